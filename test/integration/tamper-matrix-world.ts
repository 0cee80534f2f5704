// One log that every row of the tamper matrix starts from: sealed, anchored, with receipts and an unsealed end.
import { randomUUID } from 'node:crypto'
import { parseAuditorPolicy, verifyBundle } from '@baton/ledger'
import type { AuditEntry, AuditEvent, BundleParts, BundleReport } from '@baton/ledger'
import { readEvidence } from '@baton/audit'
import type { VerifyReport } from '@baton/audit'
import { createAuditFixture, entryOf } from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'
import { createSealing, taskOfShard } from './audit-seals-fixture.ts'
import type { Sealing } from './audit-seals-fixture.ts'

const LOG = ['record', 'payload', 'idem', 'batch_sig', 'head']
const TABLES = [...LOG, 'seal', 'chain_checkpoint', 'witnessed']

/** Records of chain 0 under a seal; those from here to `SIZE` are not sealed. */
export const SEALED = 8
/** The first unsealed ones: a task each, without texts, nearly all of them in one batch. */
export const GROUP = 5
export const SIZE = SEALED + GROUP + 4

export interface TamperWorld {
  readonly fixture: AuditFixture
  readonly auditor: RunningAuditor
  readonly sealing: Sealing
  /** The task whose evidence the rows about bundles change: records 0, 2, 4, 6 of chain 0. */
  readonly taskId: string
  /** Its honest evidence, made while everything was sealed. */
  readonly parts: BundleParts
  /** A record of another task of the same chain. */
  readonly foreign: Uint8Array
  readonly sql: (text: string, values?: unknown[]) => Promise<readonly { readonly size: number }[]>
  restore(schema: 'yesterday' | 'untouched', tables?: 'log'): Promise<void>
  /** What every check of the hot store finds, as `RULE@chain:seq`: verification, anchors, receipts. */
  findings(): Promise<string[]>
  /** Verified against the keys of this log, without an exporter's. */
  verify(bundle: Uint8Array): BundleReport
  close(): Promise<void>
}

export async function createTamperWorld(): Promise<TamperWorld> {
  const fixture = await createAuditFixture(2)
  const sealing = await createSealing(fixture)
  const auditor = await fixture.startAuditor({
    BATON_SEAL_PUBLIC_KEY: sealing.publicKey,
    BATON_AUDIT_EVIDENCE_TOKEN: 'evidence-token-14e10d570047667f904261',
    BATON_AUDIT_UNSEALED_MAX_MS: '3600000',
  })
  const sql = async (text: string, values?: unknown[]) =>
    (
      await fixture.superuser.query<{ size: number }>(
        values === undefined ? { text } : { text, values },
      )
    ).rows
  const tasks = [0, 0, 1, 1].map((shard) => taskOfShard(shard, 2))
  const held = createReceipts(auditor)
  const handoffs = new Map<string, string>()
  const round = async (taskIds: readonly string[], event: AuditEvent = 'HANDOFF_ACCEPTED') => {
    // One record at a time, so that every record is a batch of its own.
    for (const taskId of taskIds) {
      const isNew = event === 'HANDOFF_ACCEPTED'
      const handoffId = isNew ? randomUUID() : (handoffs.get(taskId) as string)
      handoffs.set(taskId, handoffId)
      await held.append([entryOf({ taskId, handoffId, event })])
    }
  }
  const keep = async (schema: string) => {
    await sql(`create schema ${schema}`)
    for (const table of TABLES) await sql(`create table ${schema}.${table} as table audit.${table}`)
  }
  const sealer = await sealing.startSealer()
  await round(tasks)
  await round(tasks, 'EXECUTION_COMPLETED')
  await sealing.sealed()
  await fixture.guards.lift(TABLES)
  await keep('yesterday')
  await round(tasks)
  await round(tasks, 'EXECUTION_COMPLETED')
  await sealing.sealed()
  await sealer.stop()
  const taskId = tasks[0] as string
  const parts = await evidenceOf(fixture, taskId, held.of(taskId))
  const others = await evidenceOf(fixture, tasks[1] as string, [])
  const policy = await policyOf(auditor)
  const group = Array.from({ length: GROUP }, () => taskOfShard(0, 2))
  await held.append(group.map((one) => entryOf({ taskId: one, segments: [] })))
  await round([...tasks.slice(0, 2), ...tasks.slice(0, 2)])
  await keep('untouched')
  return {
    fixture,
    auditor,
    sealing,
    taskId,
    parts,
    foreign: others.records[1] as Uint8Array,
    sql,
    async restore(schema, tables) {
      for (const table of tables === 'log' ? LOG : TABLES) {
        await sql(`delete from audit.${table}; insert into audit.${table} table ${schema}.${table}`)
      }
    },
    async findings() {
      const { findings } = await fixture.guards.inPlace(() =>
        auditor.read<VerifyReport>('/v1/verify'),
      )
      const found = findings.map(({ origin, seq, rule }) => `${rule}@${origin.at(-1)}:${seq}`)
      return [...new Set([...found, ...(await sealing.rules()), ...(await held.findings())])]
    },
    verify: (bundle) => verifyBundle(bundle, { policy, now: Date.now() / 1_000, thorough: true }),
    async close() {
      await sealing.close()
      await fixture.close()
    },
  }
}

async function policyOf(auditor: RunningAuditor) {
  const headers = { authorization: 'Bearer evidence-token-14e10d570047667f904261' }
  const text = await (await fetch(`${auditor.url}/v1/policy`, { headers })).text()
  const parsed = parseAuditorPolicy(Buffer.from(text))
  if (parsed.ok) return parsed.policy
  throw new Error(parsed.message)
}

async function evidenceOf(
  fixture: AuditFixture,
  taskId: string,
  receipts: readonly { origin: string; seq: number; recordHash: string }[],
): Promise<BundleParts> {
  const options = {
    reader: fixture.reader,
    taskIds: [taskId],
    receipts,
    cold: undefined,
    vault: undefined,
    policy: null,
  }
  const evidence = await readEvidence(options)
  if (evidence === undefined) throw new Error('the task is in the log')
  return evidence.parts
}

/** The receipts that the operational database would hold, compared as its reconciler does. */
function createReceipts(auditor: RunningAuditor) {
  const held: {
    readonly taskId: string
    readonly handoffId: string
    readonly origin: string
    readonly seq: number
    readonly hash: string
  }[] = []
  return {
    async append(entries: readonly AuditEntry[]) {
      const receipts = await auditor.client.append(entries)
      for (const [at, { origin, seq, recordHash: hash }] of receipts.entries()) {
        const { taskId, handoffId, event } = entries[at] as AuditEntry
        // An execution holds the receipt of the decision that allowed it.
        if (event === 'HANDOFF_ACCEPTED') held.push({ taskId, handoffId, origin, seq, hash })
      }
    },
    of: (taskId: string) =>
      held
        .filter((one) => one.taskId === taskId)
        .map(({ origin, seq, hash }) => ({ origin, seq, recordHash: hash })),
    async findings() {
      const asked = held.map(({ handoffId, hash }) => ({ handoffId, epoch: 1, hash }))
      const states = await auditor.client.checkReceipts(asked)
      return held.flatMap(({ origin, seq }, at) => {
        const state = states[at]
        if (state !== 'missing' && state !== 'different') return []
        return [`RECEIPT@${origin.at(-1)}:${seq}`]
      })
    },
  }
}
