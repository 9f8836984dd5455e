/** Every attack that is tried on the built daemon. */
import { CASES as agentsAndClients } from './agents-and-clients.mjs';
import { CASES as burdens } from './burdens.mjs';
import { CASES as localUsers } from './local-users.mjs';
import { CASES as namesAndLinks } from './names-and-links.mjs';
import { CASES as repository } from './repository.mjs';
import { CASES as supplyChain } from './supply-chain.mjs';
import { CASES as webPages } from './web-pages.mjs';

export const CASES = [
  ...repository,
  ...namesAndLinks,
  ...burdens,
  ...localUsers,
  ...webPages,
  ...agentsAndClients,
  ...supplyChain,
];
