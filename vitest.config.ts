// Which tests there are: units beside their source, everything that needs servers or processes under test/.
import { defineConfig } from 'vitest/config'

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

// They wait for leases and restarts most of the time: of two cores, two at once leave one idle.
const FAULT_FILES_AT_ONCE = 3

const afterwards = (project: ReturnType<typeof withServers>) => ({
  ...project,
  test: { ...project.test, maxWorkers: FAULT_FILES_AT_ONCE, sequence: { groupOrder: 1 } },
})

export default defineConfig({
  test: {
    maxWorkers: 2,
    reporters: ['default', './packages/testkit/src/tally-reporter.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: [
            'packages/*/src/**/*.test.ts',
            'services/*/src/**/*.test.ts',
            'examples/*/src/**/*.test.ts',
            'schemas/**/*.test.ts',
            'infra/**/*.test.ts',
          ],
          testTimeout: 15_000,
        },
      },
      {
        extends: true,
        test: { name: 'tidy', include: ['test/tidy/**/*.test.ts'], testTimeout: 60_000 },
      },
      {
        extends: true,
        test: { name: 'model', include: ['test/model/**/*.test.ts'], testTimeout: 300_000 },
      },
      withServers('contract', 60_000),
      withServers('integration', 60_000),
      withServers('e2e', 120_000),
      afterwards(withServers('fault', 120_000)),
    ],
  },
})
