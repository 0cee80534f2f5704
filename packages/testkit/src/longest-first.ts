// The order of a run: what takes long begins first, so that at the end no core waits for one last long file.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { BaseSequencer } from 'vitest/node'
import type { TestSpecification } from 'vitest/node'
import { ROOT } from './folders.ts'

/** Those of some twenty seconds and more, the longest of each project first. */
const LONG = [
  'test/fault/crash-points.test.ts',
  'test/fault/chaos.test.ts',
  'test/fault/streams.test.ts',
  'test/fault/ledger-kills.test.ts',
  'test/fault/sw4rm-kills.test.ts',
  'test/fault/drains.test.ts',
  'test/fault/slow-stores.test.ts',
  'test/fault/redis-outages.test.ts',
  'test/fault/postgres-outages.test.ts',
  'test/fault/control.test.ts',
  'test/fault/outages.test.ts',
  'test/fault/decorator-faults.test.ts',
  'test/fault/remote-crash-points.test.ts',
  'test/fault/people-crash-points.test.ts',
  'test/fault/push-crash-points.test.ts',
  'test/fault/redis-cluster.test.ts',
  'test/e2e/up.test.ts',
  'test/e2e/erasure.test.ts',
  'test/e2e/instance.test.ts',
  'test/e2e/backup.test.ts',
  'test/e2e/tls.test.ts',
  'test/e2e/runbooks.test.ts',
  'test/e2e/people.test.ts',
  'test/e2e/language-model.test.ts',
  'test/e2e/compliance.test.ts',
  'test/e2e/installation.test.ts',
  'test/e2e/evidence.test.ts',
  'test/e2e/stolen.test.ts',
  'test/e2e/all-protocols.test.ts',
  'test/e2e/given-databases.test.ts',
  'test/model/delivery-protocol.test.ts',
  'test/integration/sealer-standby.test.ts',
  'test/integration/audit-definitions.test.ts',
  'test/integration/embedded-postgres.test.ts',
  'test/integration/audit-tiers-expiry.test.ts',
  'test/integration/session-workers.test.ts',
  'test/integration/audit-seals-sealer.test.ts',
  'test/integration/audit-tiers-crash.test.ts',
  'test/integration/audit-attacks.test.ts',
  'test/integration/erasure-crash.test.ts',
  'test/integration/audit-search.test.ts',
  'test/integration/embedded-redis.test.ts',
  'test/integration/session-replies.test.ts',
  'test/integration/audit-outside.test.ts',
  'test/integration/key-rotation.test.ts',
  'test/integration/audit-append.test.ts',
  'test/integration/audit-tamper.test.ts',
  'test/integration/branches.test.ts',
  'test/integration/audit-seals-rotation.test.ts',
  'test/integration/push.test.ts',
  'test/integration/audit-holds.test.ts',
  'test/integration/offers-import.test.ts',
  'test/integration/transport-redis-outage.test.ts',
  'test/integration/audit-cold-watch.test.ts',
  'test/contract/migration-locks.test.ts',
  'test/contract/store-sequences.test.ts',
  'packages/ledger/src/bundle/verifiers.test.ts',
  'packages/safety/src/bounds.test.ts',
].map((file) => join(ROOT, file))

/** Files that share a process share it within their project only, so each project's files follow each other. */
const PROJECTS = ['fault', 'e2e', 'model', 'unit-apart', 'integration', 'contract', 'unit', 'tidy']

/** Its first key counts most: project, then the file's place among the long ones. */
function placeOf({ moduleId, project }: TestSpecification): number {
  const long = LONG.indexOf(moduleId)
  return PROJECTS.indexOf(project.name) * (LONG.length + 1) + (long === -1 ? LONG.length : long)
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const gone = LONG.filter((file) => !existsSync(file))
    if (gone.length > 0)
      throw new Error(`longest-first.ts lists a test file that is not there: ${gone.join(', ')}`)
    return files.toSorted((a, b) => placeOf(a) - placeOf(b))
  }
}
