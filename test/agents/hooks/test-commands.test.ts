// Which command lines run tests, and when their exit status is that of the tests.
import { expect, test } from 'vitest'
import { runsTests } from '../../../src/agents/hooks/test-commands.js'

const TESTS = `npm test
npm run test:unit
pnpm test -- --run
yarn check
bun test
npx vitest run
npx -y jest --ci
./node_modules/.bin/mocha
pytest -q tests
python3 -m pytest
uv run pytest
poetry run python -m unittest
CI=1 npm test
timeout 60 go test ./...
cargo test --workspace
cargo +nightly test
go test ./...
make test
make -j4 check
just test
./gradlew test
mvn -q test
bundle exec rspec
./vendor/bin/phpunit
ctest --output-on-failure
cd web && npm test
npm run build; npm test
npm test 2>&1
npm test && echo passed
npm ci && npm test && npm run lint`

const OTHERS = `npm install
npm test | tail -20
npm test || true
npm test; echo done
npm test &
echo npm test
echo $(npm test)
git commit -m "fix the test"
npm run build
make
cargo build
go vet ./...
testing
cat test/a.test.ts
grep test package.json`

test('commands for tests are known, behind their wrappers and after other commands', () => {
  expect(TESTS.split('\n').filter((line) => !runsTests(line))).toEqual([])
})

test('other commands are not, and nothing that another command decides', () => {
  expect(OTHERS.split('\n').filter((line) => runsTests(line))).toEqual([])
})
