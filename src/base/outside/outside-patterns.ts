// The table of commands that probably change something outside the project's folder: a remote, a registry, a server, a database.
// A command that only reads is not in it. To add a program, add a row.

import type { OutsideKind } from './outside-command.js'

export type Pattern = {
  readonly programs: readonly string[]
  readonly kind: OutsideKind
  /** Matches the arguments without options, joined by spaces. */
  readonly changes: RegExp
  /** If this matches too, the command only reads. */
  readonly reads?: RegExp
  /** Options that take the next word as their value. */
  readonly valued?: string
}

const names = (text: string) => text.split(' ')
const DOCKER =
  '-H --host -c --context --config -l --log-level -f --file -p --project-name --profile --env-file'
const COMPOSE = 'up|down|run|exec|start|stop|restart|kill|rm|create|push|scale'
const KUBECTL = '-n --namespace --context --cluster --kubeconfig --user -s --server -l --selector'
const SCRIPT = String.raw`(?:[\w.-]+[:-])?`

export const PATTERNS: readonly Pattern[] = [
  {
    programs: ['git'],
    kind: 'push',
    changes: /^(?:push|lfs push|svn dcommit|send-email|p4 submit)\b/,
    valued: '-C -c --git-dir --work-tree --namespace',
  },
  { programs: names('jj hg sl'), kind: 'push', changes: /^(?:git )?push\b/, valued: '-R --cwd' },
  {
    programs: names('gh glab'),
    kind: 'http',
    changes:
      /^(?:pr|mr|issue|release|repo|gist|workflow|run|secret|variable|label|cache|project|ssh-key|ruleset|ci|snippet) (?:create|merge|close|comment|note|edit|update|review|approve|ready|reopen|lock|unlock|delete|transfer|pin|upload|fork|rename|archive|sync|run|rerun|cancel|enable|disable|set|add|remove|trigger|retry)\b/,
    valued: '-R --repo',
  },
  {
    programs: names('npm pnpm yarn bun lerna'),
    kind: 'publish',
    changes: new RegExp(
      `^(?:(?:run(?:-script)? )?${SCRIPT}(?:publish|release)\\b|npm publish|unpublish|deprecate|dist-tag (?:add|rm)|owner (?:add|rm)|access (?:set|grant|revoke))`,
    ),
    valued: '-C --prefix --filter -F -w --workspace --cwd',
  },
  {
    programs: names('npm pnpm yarn bun make just task rake nx turbo mage'),
    kind: 'deploy',
    changes: new RegExp(`^(?:run(?:-script)? )?${SCRIPT}deploy\\b`),
    valued: '-C --prefix --filter -F -w --workspace --cwd -f --file --directory',
  },
  {
    programs: names('make just task rake'),
    kind: 'publish',
    changes: new RegExp(`^${SCRIPT}(?:publish|release)\\b`),
    valued: '-C -f --file --directory',
  },
  {
    programs: names('cargo poetry uv flit hatch pdm dart flutter gem vsce ovsx jsr deno dotnet'),
    kind: 'publish',
    changes: /^(?:pub )?(?:publish|yank|unpublish|nuget push|push)\b/,
  },
  {
    programs: names('mvn mvnw gradle gradlew sbt'),
    kind: 'publish',
    changes: /(?:^| )\S*(?:deploy|publish\w*|release:perform)\b/,
    reads: /publishToMavenLocal|publishLocal/,
  },
  { programs: ['twine'], kind: 'publish', changes: /^upload\b/ },
  { programs: ['changeset'], kind: 'publish', changes: /^publish\b/ },
  {
    programs: names('np release-it semantic-release goreleaser'),
    kind: 'publish',
    changes: /^/,
    reads: /^(?:check|build|init)\b/,
  },
  {
    programs: names('vercel vc'),
    kind: 'deploy',
    changes: /^/,
    reads:
      /^(?:ls|list|inspect|logs?|whoami|dev|build|link|pull|login|logout|help|env (?:ls|pull)|init)\b/,
  },
  {
    programs: names(
      'netlify ntl wrangler firebase fly flyctl heroku railway serverless sls cdk sam amplify kamal cap eb supabase convex render doctl surge expo eas',
    ),
    kind: 'deploy',
    changes:
      /^(?:\S+[ :])?(?:deploy\S*|publish|launch|up|push|promote|rollback|release|remove|destroy|delete|scale|set|unset|put|restart|submit|d1 execute|execute|migrations? apply)\b/,
    valued: '-a --app --project -P -c --config --env -e --stage -s --region -r',
  },
  {
    programs: names('aws gcloud az gsutil'),
    kind: 'infrastructure',
    changes: /^\S/,
    reads:
      /^(?:configure|config|auth|login|logout|account|help|sso|components|info|version)\b|^sts\b|(?:^| )(?:ls|cat|du|stat|hash|help|wait|show|tail)\b|(?:^| )(?:describe|get|list|head|search|query|scan|filter|lookup|estimate|validate)(?:-\S+)?(?: |$)/,
    valued:
      '--profile --region --output --query --project --format --filter --subscription -o -g --resource-group',
  },
  {
    programs: names('docker podman nerdctl'),
    kind: 'containers',
    changes: new RegExp(
      `^(?:(?:container|image|volume|network|system|builder|service|secret|config|node|stack|context|pod) )?(?:run|exec|start|stop|restart|kill|rm|rmi|remove|prune|create|update|push|pause|unpause|rename|connect|disconnect|deploy|scale|rollback)\\b|^compose (?:${COMPOSE})\\b|^swarm `,
    ),
    valued: DOCKER,
  },
  {
    programs: ['docker-compose'],
    kind: 'containers',
    changes: new RegExp(`^(?:${COMPOSE})\\b`),
    valued: DOCKER,
  },
  {
    programs: names('kubectl oc k3s helm helmfile kustomize argocd flux istioctl'),
    kind: 'infrastructure',
    changes:
      /^(?:(?:kubectl|app|adm) )?(?:apply|create|delete|edit|patch|replace|scale|autoscale|set|label|annotate|expose|run|exec|cp|drain|cordon|uncordon|taint|rollout (?:restart|undo|pause|resume)|install|upgrade|uninstall|rollback|push|sync|reconcile|new-app)\b/,
    valued: KUBECTL,
  },
  {
    programs: names('terraform tofu terragrunt pulumi'),
    kind: 'infrastructure',
    changes:
      /^(?:run-all )?(?:apply|destroy|import|taint|untaint|force-unlock|up|cancel|refresh|state (?:mv|rm|push|delete)|workspace (?:new|delete)|stack rm|config set)\b/,
    valued: '-s --stack -C --cwd',
  },
  { programs: ['ansible-playbook'], kind: 'infrastructure', changes: /^\S/ },
  {
    programs: ['vault'],
    kind: 'infrastructure',
    changes:
      /^(?:write|delete|kv (?:put|patch|delete|destroy)|secrets (?:enable|disable)|policy (?:write|delete))\b/,
  },
  {
    programs: names(
      'createdb dropdb createuser dropuser pg_restore mongorestore mongoimport mysqladmin mysqlimport',
    ),
    kind: 'database',
    changes: /^/,
    reads: /^(?:ping|status|version)\b/,
  },
  {
    programs: ['prisma'],
    kind: 'database',
    changes: /^(?:migrate (?:deploy|dev|reset|resolve)|db (?:push|seed|execute))\b/,
  },
  {
    programs: names(
      'alembic flyway liquibase knex sequelize sequelize-cli typeorm drizzle-kit dbmate goose diesel sqlx atlas',
    ),
    kind: 'database',
    changes:
      /^(?:upgrade|downgrade|stamp|migrate|clean|repair|undo|update|rollback|drop-all|drop|create|up|down|reset|push|migrate:\w+|seed:\w+|db:\w+|migration:(?:run|revert)|schema:(?:sync|drop|apply)|schema apply|migrations? (?:run|redo|revert)|database (?:create|drop|reset|setup))\b/,
    reads: /^\S+:(?:status|list|show|version)\b/,
  },
  {
    programs: names('rails rake'),
    kind: 'database',
    changes: /^db:(?:migrate|reset|drop|seed|rollback|create|setup|schema:load|structure:load)/,
    reads: /^db:migrate:status/,
  },
  {
    programs: names('python python3'),
    kind: 'database',
    changes: /^(?:\S*\/)?manage\.py (?:migrate|flush|loaddata)\b/,
  },
  {
    programs: names('rclone s3cmd mc'),
    kind: 'remote',
    changes:
      /^(?:copy|copyto|sync|bisync|move|moveto|delete|deletefile|purge|rmdir|rcat|put|del|rm|mv|cp|mirror)\b/,
  },
  { programs: names('mail mailx sendmail mutt msmtp swaks'), kind: 'remote', changes: /^/ },
]
