import type { Rule } from './patterns.js';

/** What the project tracks: the words for a decision, and the lists that do not depend on it. */
export type EntryKind = 'file' | 'directory' | 'link' | 'special';

export type TrackHidden = 'project' | 'none' | 'all';

export type Reason =
  | 'default'
  | 'include'
  | 'exclude'
  | 'gitignore'
  | 'info_exclude'
  | 'global_excludes'
  | 'fixed'
  | 'hidden'
  | 'secret'
  | 'protected'
  | 'nested_root';

export interface Decision {
  readonly tracked: boolean;
  /** Directories: whether to walk into it. True for an excluded one that `include` reaches into. */
  readonly enter: boolean;
  readonly reason: Reason;
  /** The pattern that decided, where one did. */
  readonly rule?: Rule;
}

/** An ignore file, or another text of patterns. */
export interface RuleText {
  /** What to call it in an explanation. */
  readonly source: string;
  readonly text: string;
}

/** What decides apart from ignore files inside the tree. */
export interface OuterRules {
  readonly config: {
    readonly trackHidden: TrackHidden;
    readonly include: readonly string[];
    readonly exclude: readonly string[];
  };
  readonly infoExclude?: RuleText;
  readonly globalExcludes?: RuleText;
  /** From the top of the repository to the root, '' when they are the same. */
  readonly prefix?: string;
  /** Ignore files of the folders above the root, top first; `base` as `prefix`. */
  readonly above?: readonly { readonly base: string; readonly text: string }[];
  readonly ignoreCase: boolean;
}

export interface RuleOptions extends OuterRules {
  /** The root's own `.gitignore`. */
  readonly rootIgnore?: string;
  /** Git's rules alone, without ours. */
  readonly gitOnly?: boolean;
}

/**
 * Which entries of one folder are tracked. Made for a walker: it asks for each name, and enters the
 * folders it is told to. Folders to which no path pattern and no ignore file applies share one object.
 *
 * Order: `.git` and `.agentsmithy` never; `include`; git's own rules; secrets; the fixed exclusions;
 * hidden names; `exclude`. Each later step can only take away, so a negation in an ignore file
 * (`!dist/`) undoes other ignore rules but no fixed exclusion: `include` is the way to have it.
 * What the user's git index holds plays no part.
 */
export interface FolderRules {
  decide(name: string, kind: EntryKind): Decision;
  /** `ignoreFile` is the `.gitignore` in that folder, if it is a regular file. */
  enter(name: string, ignoreFile: RuleText | undefined): FolderRules;
}

export interface OutsideFile {
  /** Absolute. */
  readonly path: string;
  /** Changes whenever the file does; undefined while it is absent. Taken before it was read. */
  readonly stamp: string | undefined;
}

/** All rules that do not come from folders below the root. */
export interface RuleSet {
  readonly root: FolderRules;
  /** What they were made from, without what is tracked because an agent has edited it. */
  readonly outer: OuterRules;
  /** Equal fingerprints mean equal decisions, across restarts too. */
  readonly fingerprint: string;
  /** Files that decide and that no folder watch (surely) covers, absent ones too. */
  readonly outside: readonly OutsideFile[];
  /** What could not be read or is not applied, one sentence each. */
  readonly warnings: readonly string[];
  /** True: descriptors or memory ran out while they were read, so these are not the real ones. */
  readonly isPartial?: boolean;
}

/** Why one path is tracked or not: what `smithyd status --why PATH` prints. */
export interface Explanation {
  readonly path: string;
  readonly decision: Decision;
  /** The path itself or the folder above it that settled the matter. */
  readonly at: string;
  readonly sentence: string;
}

const words = (text: string): string[] => text.trim().split(/\s+/u);

/** Output, dependencies and compiled code. In gitignore syntax, as are the lists below. */
export const FIXED_EXCLUSIONS: readonly string[] = [
  ...words(`
    dist/ build/ target/ node_modules/ venv/ .venv/ __pycache__/ *.pyc *.pyo *.so *.dylib *.dll
    .agentsmithy/
  `),
];

/**
 * Hidden names that belong to a project rather than to a machine or a person. Names only, so the
 * list costs one lookup; what is a cache, a state folder or a history stays out by not being here.
 */
export const PROJECT_DOTFILES: readonly string[] = [
  // git and the places that host it
  ...words(`
    .gitignore .gitattributes .gitmodules .gitkeep .keep .mailmap .git-blame-ignore-revs
    .gitmessage .gitlint .gitconfig .githooks .hooks .gitlab-ci.yml .gitlab-ci.yaml .gitlab-ci
    .gitreview .hgignore .p4ignore .github .gitlab .gitea .forgejo .gitee .gitpod.*
    .gitpod.Dockerfile
  `),
  // continuous integration and releases
  ...words(`
    .travis.yml .circleci .buildkite .drone.yml .drone.star .woodpecker* .cirrus.yml .cirrus.star
    .appveyor.yml .azure-pipelines* .tekton .teamcity .semaphore .jenkins .jenkinsfile .zuul*
    .builds .build.yml .ci .harness .codecov.yml .codecov.yaml .coveralls.yml .codeclimate.*
    .codacy.* .lgtm.yml .sonarcloud.properties .sonarlint .deepsource.toml .snyk .mergify*
    .kodiak* .dependabot .renovaterc* .releaserc* .release-it.* .release-please* .goreleaser*
    .changeset .changes .changie* .chglog .bumpversion* .versionrc* .all-contributorsrc
    .auto-changelog .readthedocs* .netlify.toml .vercelignore .nojekyll .platform
    .platform.app.yaml .ebextensions .elasticbeanstalk .do
  `),
  // editors and environments shared by a team
  ...words(`
    .editorconfig .vscode .idea .run .fleet .zed .dir-locals* .projectile .devcontainer*
    .devfile.y*ml .vim .nvim .vimrc .exrc .lvimrc .nvim.lua .nvmrc .node-version .python-version
    .ruby-version .ruby-gemset .java-version .go-version .terraform-version .tool-versions
    .mise.toml .mise .sdkmanrc .swift-version .xcode-version .php-version .crystal-version
    .bazelversion .nixpkgs* .devenv.nix .mcp.json .lsp.json .projectroot .workspace .fvmrc
  `),
  // agents
  ...words(`
    .claude .claude.md .claudeignore .cursor .cursorrules .cursorignore .cursorindexingignore
    .windsurf .windsurfrules .codeiumignore .cline .clinerules .clineignore .roo .roorules*
    .roomodes .rooignore .kilocode* .aiderignore .aider.conf.yml .aiderrules .continue
    .continueignore .continuerules .codex .gemini .geminiignore .junie .augment* .amazonq .kiro
    .opencode* .goose* .agents .agent .agents.md .openhands .trae .qodo .copilotignore .rules
    .aiexclude .aiignore .crush* .amp .factory .agentsmithy.example
  `),
  // linters and formatters
  ...words(`
    .eslintrc* .eslintignore .prettierrc* .prettierignore .stylelintrc* .stylelintignore .jshintrc
    .jshintignore .jscsrc .jslintrc .oxlintrc* .oxfmtrc* .biome.json* .dprint.json* .xo-config*
    .markdownlint* .mdlrc .mdl_style.rb .remarkrc* .remarkignore .textlintrc* .textlintignore
    .vale.ini .vale .proselintrc .alexrc* .alexignore .yamllint* .yamlfmt* .taplo.toml
    .jsbeautifyrc .htmlhintrc .htmllintrc .csslintrc .csscomb.json .sass-lint.yml .scss-lint.yml
    .cspell* .codespellrc .codespellignore .typos.toml .lycheeignore .commitlintrc* .lintstagedrc*
    .lint-staged* .czrc .cz.* .huskyrc* .husky .simple-git-hooks* .lefthook* .overcommit.yml
    .pre-commit-config* .pre-commit* .shellcheckrc .shfmt* .hadolint* .dockerignore .tflint.hcl
    .tfsec .trivyignore* .checkov* .terraform.lock.hcl .terraform-docs* .ansible-lint*
    .kube-linter* .semgrep* .gitleaks.toml .gitleaksignore .secrets.baseline .bandit .safety*
    .secretlintrc* .secretlintignore .trufflehog* .grype.yaml .syft.yaml .mega-linter* .jscpd*
    .ls-lint.yml .sqlfluff* .sqlfluffignore .buf.yaml .protolint* .spectral* .redocly*
    .openapi-generator-ignore .swagger-codegen-ignore .graphqlrc* .graphqlconfig* .graphql-*
    .djlintrc .curlylintrc .checkmake .licenserc*
  `),
  // JavaScript and TypeScript
  ...words(`
    .npmignore .npmpackagejsonlintrc* .yarnrc.yml .yarn .pnp.cjs .pnpmfile.cjs .babelrc* .swcrc
    .browserslistrc .mocharc* .nycrc* .c8rc* .taprc .avarc* .jestrc* .parcelrc .postcssrc*
    .sassrc* .lessrc .ncurc* .npm-upgrade* .storybook .ladle .nxignore .nxrc* .syncpackrc*
    .depcheckrc* .dependency-cruiser* .madgerc .knip.json* .size-limit* .bundlewatch*
    .lighthouserc* .puppeteerrc* .cypress .percy* .bowerrc .jsdoc.json .esdoc.json .typedoc*
    .fatherrc* .umirc* .flowconfig .tern-project .testcaferc* .nodemonignore .foreverignore
    .ember-cli* .template-lintrc* .watchmanconfig .buckconfig .solhint* .solcover*
  `),
  // Python
  ...words(`
    .flake8 .pylintrc .pycodestyle .pydocstyle* .pep8 .isort.cfg .style.yapf .coveragerc
    .coveragerc-* .mypy.ini .ruff.toml .pytest.ini .pyre_configuration .pyup.yml .landscape.y*ml
    .prospector.y*ml .pdbrc .cookiecutter* .copier-answers* .cruft.json .jupytext* .nbstripout
    .bandit.y*ml .python-versions .dvcignore
  `),
  // Ruby, PHP, JVM, .NET, Apple
  ...words(`
    .rubocop* .rspec* .yardopts .simplecov .irbrc .pryrc .reek* .erb-lint.yml .haml-lint.yml
    .slim-lint.yml .standard.yml .solargraph.yml .fasterer.yml .bundle .php-cs-fixer* .php_cs*
    .phpcs* .phplint.yml .phan .styleci.yml .htaccess .scrutinizer.yml .phpstorm.meta.php
    .user.ini .mvn .sbtopts .jvmopts .jabbarc .scalafmt* .scalafix* .scala-steward* .ktlint*
    .detekt* .java-format* .clj-kondo .cljfmt* .lein* .config .globalconfig .csharpier*
    .runsettings .nuget .swiftlint* .swiftformat* .swiftpm .periphery.yml .slather.yml .spi.yml
    .jazzy* .fastlane .xcodesamplecode.plist
  `),
  // C, C++, Rust, Go, and the rest
  ...words(`
    .clang-format* .clang-tidy* .clangd .cmake-format* .cmakelintrc .gersemirc .cppcheck*
    .uncrustify* .astylerc .indent.pro .gdbinit .lldbinit .valgrindrc .ycm_extra_conf.py .ccls
    .include-what-you-use* .bazelrc .bazelignore .bazelproject .buckversion .pants* .cargo
    .rustfmt.toml .clippy.toml .tarpaulin.toml .deny.toml .golangci* .golint* .gocilint* .air.toml
    .mockery.y*ml .ko.yaml .luacheckrc .luarc.json* .luacov .stylua.toml .busted .styluaignore
    .formatter.exs .credo.exs .dialyzer_ignore.exs .iex.exs .sobelow-conf .hlint.yaml
    .stylish-haskell.yaml .fourmolu.yaml .ghci .ghcid .weeder.toml .ocamlformat* .ocp-indent
    .merlin .JuliaFormatter.toml .lintr .Rbuildignore .Rprofile .Rinstignore .perltidyrc
    .perlcriticrc .proverc .metadata .pubignore .flutter-plugins-dependencies .ameba.yml
    .latexmkrc .chktexrc .latexindent* .helmignore .gcloudignore .cfignore .slugignore .cfnlintrc*
    .cfn_lint* .infracost* .terragrunt* .packer* .sops.yaml .kitchen*.yml .foodcritic
    .puppet-lint.rc .fixtures.yml .sync.yml .pdkignore .molecule .yamale* .ignore .rgignore
    .fdignore .agignore .ackrc .ctags* .tokeignore .tokei.toml .sourcegraph .well-known .asf.yaml
    .reuse .zenodo.json .cff .binder .justfile .taskfile.y*ml .earthlyignore .dagger .moon .proto*
    .turbo.json .bazeliskrc
  `),
];

/**
 * Never stored unless `include` names them. Compared without case; the exceptions come last.
 * Files such as `.npmrc` do not always hold a password, but a name is all there is to go by.
 */
export const SECRETS: readonly string[] = [
  // settings of one machine
  ...words(`
    .env* *.env .flaskenv .secrets .secret secrets.y*ml secrets.json secrets.toml *.tfvars.secret
    .vault_pass* .vault-token .vault-password*
  `),
  // private keys and key stores
  ...words(`
    *.pem *.key *.p8 *.p12 *.pfx *.pkcs12 *.jks *.jceks *.bks *.keystore *.ppk *.pvk *.kdb *.kdbx
    *.keychain *.keychain-db *.agekey *.gpg-key id_rsa* id_dsa* id_ecdsa* id_ed25519* id_xmss*
    ssh_host_*_key *.mobileprovision master.key secring.* pubring.kbx trustdb.gpg *.ovpn *.jwk
    wallet.dat
  `),
  // credentials of tools
  ...words(`
    .npmrc .pypirc .netrc _netrc .pgpass .my.cnf .mylogin.cnf .s3cfg .boto .htpasswd .dockercfg
    .dockerconfigjson .git-credentials .gitcookies .curlrc .pgpassfile .rclone.conf
    .gemrc-credentials .terraformrc terraform.rc .databrickscfg .snowsql .smbcredentials .esmtprc
    .msmtprc .fetchmailrc .ftpconfig .remote-sync.json credentials.json client_secret*.json
    service-account*.json service_account*.json gcloud-key*.json
    application_default_credentials.json kubeconfig kubeconfig.y*ml
  `),
  // folders that hold nothing else
  ...words(`
    .ssh/ .gnupg/ .aws/ .azure/ .gcloud/ .kube/ .password-store/ .chef/
  `),
  // made to be shared
  ...words(`
    !.env*.example !.env*.sample !.env*.template !.env*.dist !.env*.defaults !.env.example.*
    !.env.sample.* !.env.template.* !example.env !sample.env !template.env !*.example.env
    !*.sample.env !*.template.env !*.pub
  `),
];
