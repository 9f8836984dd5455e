export class Stage {
  readonly root: string;
}
