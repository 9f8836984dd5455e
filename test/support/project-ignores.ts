/** Ignore files in the shape real kinds of projects have them, with names that come near each line. */
export const PROJECT_IGNORES: Readonly<Record<string, string>> = {
  node: 'node_modules/\n/dist\n*.tgz\nnpm-debug.log*\nyarn-error.log\n.env*\n!.env.example\n.yarn/*\n!.yarn/patches\n!.yarn/releases\n.pnp.*\ncoverage/\n*.tsbuildinfo\n',
  python:
    '__pycache__/\n*.py[cod]\n*$py.class\n*.so\n/build/\n*.egg-info/\n*.egg\n.venv\nvenv*/\n.pytest_cache/\nhtmlcov/\n.coverage.*\ndocs/_build/\n*.mo\n[Ll]ocal_settings.py\n',
  rust: '/target\n**/*.rs.bk\n*.pdb\nCargo.lock\n!/Cargo.lock\nfuzz/corpus\nfuzz/artifacts/**\n!fuzz/artifacts/.gitkeep\n',
  go: '*.exe\n*.exe~\n*.test\n*.out\n/bin/\n!bin/.keep\nvendor/*/\n!vendor/modules.txt\ngo.work*\n/cmd/*/main\n',
  gradle:
    '.gradle\n**/build/\n!src/**/build/\n!gradle/wrapper/gradle-wrapper.jar\n*.jar\n*.class\nhs_err_pid*\nreplay_pid*\nout/\n*.iml\n.idea/**\n!.idea/codeStyles\n',
  cmake:
    'CMakeFiles/\nCMakeCache.txt\ncmake-build-*/\n*.o\n*.[ao]\n*.so.*\n/build*/\n!/build-tools/\ncompile_commands.json\nMakefile\n!/docs/Makefile\n_deps\n',
  dotnet:
    '[Bb]in/\n[Oo]bj/\n[Dd]ebug*/\n*.[Rr]elease/\n*.suo\n*.user\n_ReSharper*/\n*.[Pp]ublish.xml\n**/[Pp]ackages/*\n!**/[Pp]ackages/build/\n*.nupkg\n[Tt]est[Rr]esult*/\n~$*\n*~\n',
  unity:
    '/[Ll]ibrary/\n/[Tt]emp/\n/[Uu]ser[Ss]ettings/\n/[Aa]ssets/Plugins/Editor/Rider*\n*.pidb.meta\nsysinfo.txt\n*.apk\n!/[Aa]ssets/**/*.meta\n/[Aa]ssets/[Aa]ddressable[Aa]ssets[Dd]ata/*/*.bin*\n',
  rails:
    '/.bundle\n/log/*\n/tmp/*\n!/log/.keep\n!/tmp/.keep\n/tmp/pids/*\n!/tmp/pids/\n!/tmp/pids/.keep\n/storage/*\n!/storage/.keep\n/public/assets\n/config/*.key\n.byebug_history\n',
  terraform:
    '**/.terraform/*\n*.tfstate\n*.tfstate.*\ncrash.*.log\n*.tfvars\n!example.tfvars\noverride.tf\n*_override.tf\n!keep_override.tf\n.terraformrc\n',
  latex:
    '*.aux\n*.lo[ftg]\n*.fls\n*.synctex.gz\n*.synctex(busy)\n*.bbl-SAVE-ERROR\n_minted*/\n*-blx.bib\n*.sw[a-p]\n/figures/*.pdf\n!/figures/logo.pdf\n*.[1-9]R\n',
  android:
    '*.ap[ks]\n*.aab\nlocal.properties\n/captures\n.externalNativeBuild\n.cxx/\n*.jks\nfreeline/\nrelease/\n!app/release/output.json\nlint/{intermediates,outputs}/\ngen-external-*\n',
  whitelist:
    '*\n!*/\n!*.md\n!/src/**\n/src/gen/**\n!.gitignore\n\\#note#\n\\!important\ntrailing\\ \nspaces here   \n',
};
