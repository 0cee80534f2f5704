// The checker: what the driver was told, what the agents wrote down and what both databases say must agree.
import { existsSync, readFileSync } from 'node:fs'
import { createPool as createAuditPool, invariantReads as auditReads } from '@baton/audit'
import { auditInvariants, storeInvariants } from '@baton/pipeline'
import { createPool, invariantReads as storeReads, type Pool } from '@baton/store'
import { eventually, type System } from '@baton/testkit'

interface LedgerLine {
  readonly handoffId: string
  readonly epoch: number
  readonly key: string
  readonly at: number
}

interface Decision {
  readonly handoffid: string
  readonly epoch: number
  readonly at: number
}

const DRAIN_MAX_MS = 60_000

async function rowsOf<Row extends object>(pool: Pool, text: string): Promise<Row[]> {
  return (await pool.query<Row & Record<string, unknown>>({ text })).rows
}

/** Waits until nothing is queued, leased, scheduled or unshipped any more. */
export async function drained(system: System): Promise<void> {
  const pool = createPool({
    url: system.databaseUrl,
    applicationName: 'checker',
    connectionsMax: 1,
  })
  const stuck = async () =>
    rowsOf<{ what: string }>(
      pool,
      `select 'open ' || id || ' ' || state as what from handoff where ended_at is null
       union all select 'outbox ' || handoff_id from outbox
       union all select 'retry ' || handoff_id from retry
       union all select 'unshipped ' || handoff_id from audit_outbox`,
    )
  let seen: { what: string }[] = []
  try {
    await eventually(async () => (seen = await stuck()).length === 0, {
      deadlineMs: DRAIN_MAX_MS,
      describe: () =>
        `everything is settled; still there: ${seen.map((row) => row.what).join(', ')}`,
    })
  } finally {
    await pool.end()
  }
}

/**
 * Checks a drained system against `acknowledged` (handoff ids whose send was confirmed) and the
 * agents' ledger. Answers what is wrong, each line naming the promise; empty means all hold.
 */
export async function violations(
  system: System,
  acknowledged: readonly string[],
  ledgerFile: string,
): Promise<string[]> {
  const pool = createPool({
    url: system.databaseUrl,
    applicationName: 'checker',
    connectionsMax: 1,
  })
  const auditPool = createAuditPool({
    url: system.auditUrls.reader,
    applicationName: 'checker',
    connectionsMax: 1,
  })
  try {
    const ledger = readLedger(ledgerFile)
    const { rows: decisions } = await auditPool.query<Decision & Record<string, unknown>>({
      text: `select handoffid, epoch::int as epoch, extract(epoch from "timestamp")::float8 * 1000 as at
        from handoff_events where event = 'HANDOFF_ACCEPTED'`,
    })
    return [
      ...(await lost(pool, acknowledged)),
      ...(await doubleEffects(pool, ledger)),
      ...unaudited(ledger, decisions),
      ...keysPerHandoff(ledger),
      ...(await costsOff(pool)),
      ...(await chainBroken(system)),
      ...(await brokenRules(pool, auditPool)),
    ]
  } finally {
    await pool.end()
    await auditPool.end()
  }
}

function readLedger(file: string): LedgerLine[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as LedgerLine)
}

async function lost(pool: Pool, acknowledged: readonly string[]): Promise<string[]> {
  const known = new Set(
    (await rowsOf<{ id: string }>(pool, 'select id from handoff')).map((r) => r.id),
  )
  return acknowledged.filter((id) => !known.has(id)).map((id) => `I2 lost: ${id}`)
}

// An effect is a committed execution. It must have run, and in the very epoch that committed it.
async function doubleEffects(pool: Pool, ledger: readonly LedgerLine[]): Promise<string[]> {
  const committed = await rowsOf<{ id: string; epoch: number; ledger: number | null }>(
    pool,
    `select h.id, e.epoch, (e.result::json ->> 'epoch')::int as ledger
     from handoff h join execution e on e.handoff_id = h.id where h.state = 'COMPLETED'`,
  )
  const ran = new Set(ledger.map((line) => `${line.handoffId} ${line.epoch}`))
  const wrong = committed.filter(
    (row) => row.ledger !== row.epoch || !ran.has(`${row.id} ${row.epoch}`),
  )
  const next = await rowsOf<{ parent_id: string }>(
    pool,
    'select parent_id from handoff where parent_id is not null group by parent_id having count(*) > 1',
  )
  return [
    ...wrong.map((row) => `I4 effect of another epoch committed: ${row.id}`),
    ...next.map((row) => `I5 next handoff committed twice: ${row.parent_id}`),
  ]
}

function unaudited(ledger: readonly LedgerLine[], decisions: readonly Decision[]): string[] {
  const decidedAt = new Map(
    decisions.map((row) => [`${row.handoffid} ${row.epoch}`, Number(row.at)]),
  )
  return ledger
    .filter((line) => (decidedAt.get(`${line.handoffId} ${line.epoch}`) ?? Infinity) > line.at + 1)
    .map(
      (line) =>
        `I3 executed without an earlier decision record: ${line.handoffId} epoch ${line.epoch}`,
    )
}

function keysPerHandoff(ledger: readonly LedgerLine[]): string[] {
  const keys = new Map<string, string>()
  return ledger.flatMap((line) => {
    const first = keys.get(line.handoffId) ?? line.key
    keys.set(line.handoffId, first)
    return first === line.key ? [] : [`I4 two idempotency keys: ${line.handoffId}`]
  })
}

async function costsOff(pool: Pool): Promise<string[]> {
  const off = await rowsOf<{ id: string }>(
    pool,
    `select t.id from task t where t.spent_micro_usd <>
       (select h.spent_micro_usd from handoff h where h.task_id = t.id and h.task_seq = 1)
       + (select coalesce(sum(e.cost_micro_usd), 0) from execution e join handoff h on h.id = e.handoff_id
          where h.task_id = t.id)
     union select task_id from handoff h join task t on t.id = h.task_id
       where h.spent_micro_usd + h.remaining_micro_usd <> t.budget_micro_usd`,
  )
  return off.map((row) => `I8 cost not conserved: task ${row.id}`)
}

async function chainBroken(system: System): Promise<string[]> {
  const response = await fetch(new URL('/v1/verify', system.auditorUrl), {
    headers: { authorization: `Bearer ${system.tokens.read}` },
  })
  const report = (await response.json()) as { ok: boolean; findings: unknown[] }
  return report.ok
    ? []
    : [`I10 chain does not verify: ${JSON.stringify(report.findings.slice(0, 3))}`]
}

// The rules that `baton doctor` checks on a live system hold after every crash as well.
async function brokenRules(
  pool: Pool,
  auditPool: ReturnType<typeof createAuditPool>,
): Promise<string[]> {
  const rules = [...storeInvariants(storeReads(pool)), ...auditInvariants(auditReads(auditPool))]
  const broken: string[] = []
  for (const { promise, rule, check } of rules) {
    const ids = await check()
    if (ids.length > 0) broken.push(`${promise} broken, ${rule}: ${ids.slice(0, 5).join(', ')}`)
  }
  return broken
}
