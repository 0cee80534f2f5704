// The campaign's checker on one system: what the driver was told, what agents wrote down and both databases must agree.
import { existsSync } from 'node:fs'
import { createPool } from '@baton/store'
import type { System } from '@baton/testkit'
import { checkAll, describeViolation } from '../chaos/check.ts'
import { waitUntilDrained } from '../chaos/drain.ts'
import { readLines } from '../chaos/effect-ledger.ts'
import type { LedgerLine } from '../chaos/effect-ledger.ts'
import type { Operation } from '../chaos/history.ts'
import { readEvidence } from '../chaos/read-evidence.ts'

const DRAIN_MAX_MS = 60_000
const SHOWN_MAX = 10

/** Waits until nothing is queued, leased, scheduled or unshipped any more. */
export async function drained(system: System): Promise<void> {
  const pool = createPool({
    url: system.databaseUrl,
    applicationName: 'checker',
    connectionsMax: 1,
  })
  try {
    const { stuck } = await waitUntilDrained(pool, DRAIN_MAX_MS)
    if (stuck.length > 0)
      throw new Error(
        `not settled in a minute; ${stuck.slice(0, SHOWN_MAX).join(', ')} of ${stuck.length}`,
      )
  } finally {
    await pool.end()
  }
}

/**
 * Checks a drained system against `acknowledged` (handoff ids whose send was confirmed) and the
 * agents' ledger. Answers what is wrong, each line naming the invariant and the promise; empty
 * means all hold.
 */
export async function violations(
  system: System,
  acknowledged: readonly string[],
  ledgerFile: string,
): Promise<string[]> {
  const setting = (name: string, otherwise: number) => Number(system.env[name] ?? otherwise)
  const found = checkAll({
    ...(await readEvidence(system)),
    operations: acknowledged.map(acknowledgedSend),
    sendsKnown: false,
    peers: [],
    told: [],
    ledger: existsSync(ledgerFile) ? readLines<ShortLine>(ledgerFile).map(wholeLine) : [],
    faults: [],
    limits: {
      leaseMs: setting('BATON_LEASE_MS', 8_000),
      backoff: {
        baseMs: setting('BATON_RETRY_BASE_MS', 1_000),
        capMs: setting('BATON_RETRY_CAP_MS', 60_000),
      },
    },
  })
  return found.map(describeViolation)
}

/** The ledger of `ledger-agents.ts`: one line for each execution that started. */
type ShortLine = Pick<LedgerLine, 'handoffId' | 'taskId' | 'fencingToken' | 'key' | 'at'>

const wholeLine = (line: ShortLine): LedgerLine => ({
  ...line,
  what: 'start',
  attempt: 0,
  costMicroUSD: 0,
  traceparent: '',
  pid: 0,
})

const acknowledgedSend = (handoffId: string): Operation => ({
  handoffId,
  taskId: '',
  traceId: '',
  kind: '',
  via: 'sdk',
  expect: { states: [] },
  outcome: 'acknowledged',
  at: 0,
})
