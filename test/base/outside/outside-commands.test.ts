// Which commands of agents count as changes outside the folder, and which only read.
import { expect, test } from 'vitest'
import { outsideCommands } from '../../../src/base/index.js'

const kindsOf = (command: string) =>
  outsideCommands('Bash', { command }).map(({ kind, command: shown }) => `${kind}: ${shown}`)

test.each([
  ['git push', ['push: git push']],
  ['cd app && git -C lib push origin main', ['push: git -C lib push origin main']],
  ['sudo -u me git push --force', ['push: git push --force']],
  ['FOO=1 npm publish --access public', ['publish: npm publish --access public']],
  ['npm run release:prod; yarn deploy', ['publish: npm run release:prod', 'deploy: yarn deploy']],
  ['make deploy', ['deploy: make deploy']],
  ['bash ./scripts/deploy.sh prod', ['deploy: ./scripts/deploy.sh']],
  ['npx -y wrangler@4 deploy', ['deploy: wrangler@4 deploy']],
  ['pnpm exec prisma migrate deploy', ['database: prisma migrate deploy']],
  ['vercel --prod', ['deploy: vercel --prod']],
  ['cargo publish', ['publish: cargo publish']],
  ['./gradlew publish', ['publish: ./gradlew publish']],
  ['docker compose -f a.yml up -d', ['containers: docker compose -f a.yml up -d']],
  ['docker run --rm -it alpine sh', ['containers: docker run --rm -it alpine sh']],
  ['docker-compose -p x down -v', ['containers: docker-compose -p x down -v']],
  ['kubectl -n prod delete pod web', ['infrastructure: kubectl -n prod delete pod web']],
  ['helm upgrade web ./chart', ['infrastructure: helm upgrade web ./chart']],
  ['terraform apply -auto-approve', ['infrastructure: terraform apply -auto-approve']],
  ['aws s3 cp a s3://b/a', ['infrastructure: aws s3 cp a s3://b/a']],
  ['aws --profile p ec2 run-instances', ['infrastructure: aws --profile p ec2 run-instances']],
  ['gcloud run deploy web', ['infrastructure: gcloud run deploy web']],
  ["psql -c 'UPDATE a SET b = 1'", ["database: psql -c 'UPDATE a SET b = 1'"]],
  ['psql -f seed.sql', ['database: psql -f seed.sql']],
  ["psql -c 'SELECT 1; DELETE FROM a'", ["database: psql -c 'SELECT 1; DELETE FROM a'"]],
  ['mysql shop < dump.sql', ['database: mysql shop']],
  ['redis-cli -h db flushall', ['database: redis-cli -h db flushall']],
  ['python3 manage.py migrate', ['database: python3 manage.py migrate']],
  ['curl -X POST https://a.b/c', ['http: curl -X POST https://a.b/c']],
  ['curl -sXDELETE https://a.b/c', ['http: curl -sXDELETE https://a.b/c']],
  ['curl -s https://a.b -d x=1', ['http: curl -s https://a.b -d x=1']],
  ['curl -T a.zip https://a.b', ['http: curl -T a.zip https://a.b']],
  ['wget --post-data=x https://a.b', ['http: wget --post-data=x https://a.b']],
  ['http a.b/c name=x', ['http: http a.b/c name=x']],
  ['gh pr create --fill', ['http: gh pr create --fill']],
  ['gh api repos/a/b/issues -f title=x', ['http: gh api repos/a/b/issues -f title=x']],
  ['ssh host rm -rf /srv', ['remote: ssh host rm -rf /srv']],
  ['rsync -a dist/ web:/srv', ['remote: rsync -a dist/ web:/srv']],
  ['bash -lc "npm test && git push"', ['push: git push']],
  ['out=$(git push 2>&1); echo $out', ['push: git push']],
  ['if true; then git push; fi', ['push: git push']],
])('%s is listed', (command, expected) => {
  expect(kindsOf(command)).toEqual(expected)
})

test.each([
  'git pull && git fetch && git status',
  'git push --dry-run',
  'git commit -m "then git push"',
  'git stash push',
  'git log --grep push',
  'echo "git push" > todo.txt',
  'cat > deploy.sh <<EOF\ngit push\nEOF',
  'npm ci && npm test && npm run build',
  'npm publish --dry-run',
  'docker ps -a && docker logs web && docker images && docker build -t push .',
  'docker compose logs web && docker compose ps',
  'kubectl -n prod get pods && kubectl describe pod delete && kubectl logs web',
  'kubectl apply -f a.yml --dry-run=client',
  'helm list && helm template web',
  'terraform plan && terraform init && terraform show',
  'aws s3 ls && aws ec2 describe-instances && aws sts get-caller-identity',
  'gcloud projects list',
  'vercel ls',
  "psql -c 'SELECT * FROM a' -c '\\dt'",
  'psql -c "SELECT \'DELETE FROM a\'"',
  'psql -l',
  "mysql -e 'SHOW TABLES'",
  'redis-cli get a',
  'pg_dump shop > a.sql',
  'curl -fsSL https://a.b/c -o c',
  'curl -X GET https://a.b -d x=1',
  'curl -G https://a.b -d x=1',
  'wget https://a.b/c',
  'http GET a.b/c',
  'gh pr view 1 && gh pr list && gh api repos/a/b',
  "gh api graphql -f query='query { viewer { login } }'",
  'ssh -V',
  'rsync -a web:/srv/ dist/',
  'scp web:/a .',
  'make test release-notes.md',
  'terraform apply --help',
  'ls deploy && cat scripts/publish.ts && node scripts/build.mjs',
])('%s only reads', (command) => {
  expect(kindsOf(command)).toEqual([])
})

test('MCP tools are judged by the verb in their name', () => {
  const shown = (name: string, input: unknown = {}) => outsideCommands(name, input)
  expect(shown('mcp__github__create_issue', { title: 'x', token: 'abcdefgh12345678' })).toEqual([
    { kind: 'mcp', command: 'mcp__github__create_issue {"title":"x","token":"••••••"}' },
  ])
  expect(shown('MCP:sendEmail')).toEqual([{ kind: 'mcp', command: 'MCP:sendEmail' }])
  expect(shown('mcp_slack_post_message')).toEqual([
    { kind: 'mcp', command: 'mcp_slack_post_message' },
  ])
  const reads = ['mcp__github__get_issue_comment', 'mcp__db__list_tables', 'mcp_docs_search_posts']
  expect(reads.flatMap((name) => shown(name))).toEqual([])
  expect(shown('mcp__savestate__checkpoint_create')).toEqual([])
})

test('words of a command, several lines, and tools without a command', () => {
  const of = (input: unknown) => outsideCommands('shell', input).map(({ command }) => command)
  expect(of({ command: ['bash', '-lc', 'git push'] })).toEqual(['git push'])
  expect(of({ command: ['git', 'push', 'a b'] })).toEqual(["git push 'a b'"])
  expect(of({ commands: ['git push', 'ls', 'npm publish'] })).toEqual(['git push', 'npm publish'])
  expect(of({ cmd: 'git push' })).toEqual(['git push'])
  expect(of({ file_path: 'git push' })).toEqual([])
  expect(of(undefined)).toEqual([])
})

test('secrets are masked, and long texts and lists are cut', () => {
  const [found] = outsideCommands('Bash', {
    command: `curl -u me:s3cretS3cret! -X POST https://a.b -d ${'x'.repeat(500)}`,
  })
  expect(found?.command).toMatch(/^curl -u 'me:•+' -X POST https:\/\/a\.b -d x+…$/)
  expect(found?.command.length).toBe(200)
  const many = Array.from({ length: 20 }, (_, index) => `git push r${index}`).join(';')
  expect(outsideCommands('Bash', { command: many })).toHaveLength(8)
})
