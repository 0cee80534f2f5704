// Which tests there are: units beside their source, everything that needs servers or processes under test/.
import { globSync, readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './packages/testkit/src/longest-first.ts'

const GLOBAL_SETUP = './packages/testkit/src/global-setup.ts'

const withServers = (name: string, testTimeout: number) => ({
  extends: true as const,
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    globalSetup: [GLOBAL_SETUP],
    testTimeout,
    hookTimeout: 60_000,
  },
})

/** They wait for leases, restarts and servers much of the time: with three at once two cores are seldom idle. */
const FILES_AT_ONCE = 3

const UNITS = [
  'packages/*/src/**/*.test.ts',
  'packages/adapters/*/src/**/*.test.ts',
  'packages/*/training/**/*.test.ts',
  'services/*/src/**/*.test.ts',
  'examples/*/src/**/*.test.ts',
  'schemas/**/*.test.ts',
  'infra/**/*.test.ts',
]

/** They replace modules, or look at which are loaded: each has a process of its own. */
const APART = globSync(UNITS, { exclude: ['**/node_modules/**'] }).filter((file) =>
  /vi\.mock\(|createRequire\(/.test(readFileSync(file, 'utf8')),
)

/** Files share a process and every module it has loaded: loading anew was a good third of the units' processor time. */
const sharing = <Project extends { test: object }>(project: Project) => ({
  ...project,
  test: { ...project.test, isolate: false },
})

const units = (name: string, files: { include: string[]; exclude?: string[] }) => ({
  extends: true as const,
  test: { name, testTimeout: 15_000, ...files },
})

export default defineConfig({
  test: {
    maxWorkers: FILES_AT_ONCE,
    reporters: [
      'default',
      './packages/testkit/src/tally-reporter.ts',
      './packages/testkit/src/stuck-reporter.ts',
    ],
    sequence: { sequencer: LongestFirst },
    projects: [
      sharing(units('unit', { include: UNITS, exclude: ['**/node_modules/**', ...APART] })),
      units('unit-apart', { include: APART }),
      {
        extends: true,
        test: { name: 'tidy', include: ['test/tidy/**/*.test.ts'], testTimeout: 60_000 },
      },
      {
        extends: true,
        test: { name: 'model', include: ['test/model/**/*.test.ts'], testTimeout: 300_000 },
      },
      sharing(withServers('contract', 60_000)),
      sharing(withServers('integration', 60_000)),
      sharing(withServers('e2e', 120_000)),
      withServers('fault', 120_000),
    ],
  },
})
