// What thieves do to the log: false records, holds, erasures and seals, and deleting.
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createAuditLog, createPool, createSubjectVault, openWrappingKeys } from '@baton/audit'
import type { VerifyReport } from '@baton/audit'
import {
  actIdOf,
  createBatchSigner,
  createNoteSigner,
  formatCheckpoint,
  formatVerifierKey,
  hashLeaf,
  recorded,
  signNote,
} from '@baton/ledger'
import type { AuditEntry, DecisionEvent } from '@baton/ledger'
import { entryOf } from '@baton/ledger/fixtures/entry'
import { eventually } from '@baton/testkit'
import { entering } from './entering.ts'
import { decideOverHttp, forgeries, judged, recordForged } from './forge-decisions.ts'
import type { Loot } from './loot.ts'
import { POSSIBLE, refused, statement } from './outcome.ts'
import type { WayOutcome } from './outcome.ts'
import { signAs } from './scene.ts'
import type { Handed, Scene } from './scene.ts'

/** Somebody of whom a record of the log tells something. */
export interface Told extends Handed {
  readonly subject: string
}

export async function tell(
  scene: Scene,
  text: string,
  of: Partial<Pick<Handed, 'taskId'>> = {},
): Promise<Told> {
  const token = scene.secrets['development']?.['BATON_AUDIT_APPEND_TOKEN'] ?? ''
  const ids = { taskId: randomUUID(), handoffId: randomUUID(), ...of }
  const subject = `person-${randomUUID()}`
  const entry = entryOf({ ...ids, segments: [{ kind: 'personal', subject, text }] })
  const asked = { method: 'POST', body: { entries: [entry] } }
  const answer = await scene.audit(token, '/v1/records', asked)
  if (!answer.ok) throw new Error(`not recorded: ${await answer.text()}`)
  return { ...ids, subject }
}

/** A person of the instance holds a task, or lets it go. */
export async function holdHonestly(scene: Scene, taskId: string, held: boolean): Promise<void> {
  const token = scene.secrets['archive']?.['holdToken'] ?? ''
  const asking = { method: 'PUT', body: { held, actor: 'operator', reason: 'COURT_ORDER' } }
  const first = await scene.audit(token, `/v1/holds/${taskId}`, asking)
  const needed = first.headers.get('baton-decision-needed') ?? ''
  const signed = signAs(scene, 'operator', needed)
  const answer = await scene.audit(token, `/v1/holds/${taskId}`, { ...asking, signed })
  if (!answer.ok) throw new Error(`not held: ${await answer.text()}`)
}

/** Where a record stands in the log. */
interface Place {
  readonly origin: string
  readonly seq: number
}

/** The log as a thief appends to it who has all of an auditor; undefined for everybody else. */
async function appendPastAuditor(
  loot: Loot,
  entry: AuditEntry,
): Promise<Place | 'refused' | undefined> {
  const { settings } = loot
  const { BATON_AUDIT_WRITER_URL: writerUrl, BATON_VAULT_URL: vaultUrl } = settings
  const {
    BATON_AUDIT_SIGNING_KEY: signing,
    BATON_AUDIT_WRAPPING_KEY: wrapping,
    BATON_AUDIT_LOOKUP_KEY: lookupKey,
  } = settings
  if (!writerUrl || !vaultUrl || !signing || !wrapping || !lookupKey) return undefined
  const pools = [writerUrl, vaultUrl].map((url) =>
    createPool({ url, applicationName: 'thief', connectionsMax: 1 }),
  )
  const [db, vaultDb] = pools as [(typeof pools)[0], (typeof pools)[0]]
  const keys = openWrappingKeys(wrapping, { environment: 'development' })
  const vault = createSubjectVault({ db: vaultDb, ...keys, lookupKey })
  const log = createAuditLog({
    db,
    vault,
    signer: createBatchSigner(signing),
    environment: 'development',
  })
  try {
    const [outcome] = await log.append([entry])
    return outcome?.kind === 'receipt' ? outcome.receipt : 'refused'
  } finally {
    await Promise.all(pools.map((pool) => pool.end()))
  }
}

/** Whoever asks `audit.append` directly and is not its role. */
const appendBySql = (loot: Loot): Promise<readonly WayOutcome[]> =>
  entering(loot, 'baton_audit', async (pool) => {
    const nothing = Array(27).fill('null').join(', ')
    const outcome = await statement(() => pool.query({ text: `select audit.append(${nothing})` }))
    return outcome !== undefined && 'refusedBy' in outcome ? [outcome] : []
  })

/** A record that somebody's handoff was accepted, which nobody has judged. */
export async function forgeRecord(scene: Scene, loot: Loot): Promise<readonly WayOutcome[]> {
  const outcomes: WayOutcome[] = []
  for (const token of loot.auditorTokens) {
    const asked = { method: 'POST', body: { entries: [entryOf()] } }
    outcomes.push(await judged(await scene.audit(token, '/v1/records', asked), 'the auditor'))
  }
  const past = await appendPastAuditor(loot, entryOf())
  return [
    ...outcomes,
    ...(await appendBySql(loot)),
    past && (past === 'refused' ? refused('Postgres') : POSSIBLE),
  ]
}

/** An entry about a decision of somebody, signed by the thief. */
function forgedEntry(loot: Loot, event: DecisionEvent, { taskId, handoffId }: Handed): AuditEntry {
  const decision = { event, taskId, handoffId, person: 'operator', decided: 'ab'.repeat(32) }
  const [signed] = forgeries(loot, decision)
  if (signed === undefined) throw new Error('nothing is signed')
  const act = { id: actIdOf(signed), actor: 'operator', signed: recorded(signed) }
  return entryOf({ event, taskId, handoffId, act, verdicts: null, segments: [] })
}

/** Puts a decision into the log past the auditor, as only its own secrets do; answers where it stands. */
async function recordPastAuditor(
  loot: Loot,
  event: DecisionEvent,
  of: Handed,
): Promise<Place | undefined> {
  const appended = await appendPastAuditor(loot, forgedEntry(loot, event, of))
  return appended === 'refused' ? undefined : appended
}

/** Whether whoever verifies the log is told that nobody has proven this record. */
async function isNamed(scene: Scene, { origin, seq }: Place): Promise<boolean> {
  const answer = await scene.audit(readToken(scene), '/v1/verify')
  const { findings } = (await answer.json()) as Pick<VerifyReport, 'findings'>
  return findings.some(
    (found) => found.rule.startsWith('DECISION') && found.origin === origin && found.seq === seq,
  )
}

/** What a forged record of the log came to; it has no effect where its decision does not hold. */
async function forgedRecord(
  scene: Scene,
  record: Place,
  holds: () => Promise<boolean>,
): Promise<WayOutcome> {
  if (!(await holds())) return refused('whoever acts on it')
  return { possible: true, ...((await isNamed(scene, record)) && { foundBy: 'verify' }) }
}

async function holdOverHttp(scene: Scene, loot: Loot, asked: { taskId: string; held: boolean }) {
  const { taskId, held } = asked
  const body = { held, actor: 'operator' }
  return decideOverHttp(loot, 'the auditor', (token, signed) =>
    scene.audit(token, `/v1/holds/${taskId}`, {
      method: 'PUT',
      body,
      ...(signed === undefined ? {} : { signed }),
    }),
  )
}

/** Ends a hold that a person has set. */
export async function liftHold(
  scene: Scene,
  loot: Loot,
  { held }: { readonly held: Told },
): Promise<readonly WayOutcome[]> {
  const { taskId } = held
  const outcomes = [
    ...(await holdOverHttp(scene, loot, { taskId, held: false })),
    ...(await recordForged(scene, loot, 'LEGAL_HOLD_LIFTED', held)),
    ...(await entering(loot, 'baton_audit', async (pool) => [
      await statement(() =>
        pool.query({ text: 'delete from audit.legal_hold where task_id = $1', values: [taskId] }),
      ),
      await statement(() =>
        pool.query({
          text: 'update audit.legal_hold set lifted_seq = 0 where task_id = $1',
          values: [taskId],
        }),
      ),
    ])),
  ]
  const past = { ...held, handoffId: randomUUID() }
  const record = await recordPastAuditor(loot, 'LEGAL_HOLD_LIFTED', past)
  if (record === undefined) return outcomes
  await sealed(scene)
  const isLifted = async () => !(await isHeld(scene, taskId))
  return [...outcomes, await forgedRecord(scene, record, isLifted)]
}

/** Holds a task in somebody's name. */
export async function setHold(
  scene: Scene,
  loot: Loot,
  { told }: { readonly told: Told },
): Promise<readonly WayOutcome[]> {
  const { taskId } = told
  const outcomes = [
    ...(await holdOverHttp(scene, loot, { taskId, held: true })),
    ...(await recordForged(scene, loot, 'LEGAL_HOLD_SET', told)),
    ...(await entering(loot, 'baton_audit', async (pool) => [
      await statement(() =>
        pool.query({
          text: 'insert into audit.legal_hold (task_id, chain, seq, held_at) values ($1, 0, 0, now())',
          values: [taskId],
        }),
      ),
    ])),
  ]
  const record = await recordPastAuditor(loot, 'LEGAL_HOLD_SET', {
    ...told,
    handoffId: randomUUID(),
  })
  if (record === undefined) return outcomes
  return [...outcomes, await forgedRecord(scene, record, () => isHeld(scene, taskId))]
}

const readToken = ({ secrets }: Scene) => secrets['development']?.['BATON_AUDIT_READ_TOKEN'] ?? ''

async function isHeld(scene: Scene, taskId: string): Promise<boolean> {
  let after = ''
  for (;;) {
    const answer = await scene.audit(readToken(scene), `/v1/holds${after}`)
    const { holds, next } = (await answer.json()) as {
      holds: { readonly taskId: string; readonly state: string }[]
      next: string | null
    }
    const found = holds.find((hold) => hold.taskId === taskId)
    if (found !== undefined) return found.state === 'held' || found.state === 'unverified'
    if (next === null) return false
    after = `?after=${next}`
  }
}

/** Until a seal covers all that is recorded now. */
async function sealed({ owner }: Scene): Promise<void> {
  const { rows } = await owner.audit.query<{ chain: number; size: string }>({
    text: 'select chain, size from audit.head',
  })
  await eventually(
    async () => {
      const { rows: covered } = await owner.audit.query<{ chain: number; size: string }>({
        text: 'select chain, max(size) as size from audit.chain_checkpoint group by chain',
      })
      const sizes = new Map(covered.map(({ chain, size }) => [chain, Number(size)]))
      return rows.every(({ chain, size }) => (sizes.get(chain) ?? 0) >= Number(size))
    },
    { deadlineMs: 60_000, describe: 'what is recorded is sealed' },
  )
}

/** Erases a person from the log: by plan and confirmation, by rows, by records. */
export async function forgeErasure(
  scene: Scene,
  loot: Loot,
  { told }: { readonly told: Told },
): Promise<readonly WayOutcome[]> {
  const { subject } = told
  const basis = 'GDPR_ART_17_1'
  const id = randomUUID()
  const plan = { id, subject, basis, requestedBy: 'operator', handoffIds: [], taskIds: [] }
  const post = (signed: string | undefined, body: object) => ({
    method: 'POST',
    body,
    ...(signed === undefined ? {} : { signed }),
  })
  const outcomes = [
    ...(await decideOverHttp(loot, 'the gateway', (token, signed) =>
      scene.ask(token, '/v2/erasures', post(signed, { subject, basis, erasureId: id })),
    )),
    ...(await decideOverHttp(loot, 'the auditor', (token, signed) =>
      scene.audit(token, '/v1/erasures', post(signed, plan)),
    )),
    ...(await recordForged(scene, loot, 'ERASURE_REQUESTED', { taskId: id, handoffId: id })),
    ...(await entering(loot, 'baton_audit', async (pool) => [
      await statement(() => pool.query({ text: 'delete from audit.payload' })),
      await statement(async () => {
        await pool.query({
          text: `insert into audit.erasure (id, state, basis, requested_by, confirmed_by, handoff_ids, task_ids)
            values ($1, 'CONFIRMED', $2, 'operator', 'reviewer-1', '{}', '{}')`,
          values: [id, basis],
        })
        await pool.query({ text: 'select audit.erase_payload($1)', values: [id] })
      }),
    ])),
  ]
  if (!(await isThere(scene, told))) throw new Error('it is erased')
  return outcomes
}

async function isThere({ owner }: Scene, { taskId }: Told): Promise<boolean> {
  const { rows } = await owner.audit.query({
    text: 'select 1 from audit.payload p join audit.record r using (chain, seq) where r.task_id = $1',
    values: [taskId],
  })
  return rows.length > 0
}

/** Takes the key of somebody's texts out of the vault, so that nobody reads them any more. */
export const destroyKeys = (
  scene: Scene,
  loot: Loot,
  { told }: { readonly told: Told },
): Promise<readonly WayOutcome[]> =>
  entering(loot, 'baton_vault', async (pool) => {
    const { rows } = await scene.owner.audit.query<{ ref: string }>({
      text: 'select distinct p.subject_ref as ref from audit.payload p join audit.record r using (chain, seq) where r.task_id = $1',
      values: [told.taskId],
    })
    return [
      await statement(() =>
        pool.query({
          text: 'delete from vault.subject_key where subject_ref = any($1::uuid[])',
          values: [rows.map(({ ref }) => ref)],
        }),
      ),
    ]
  })

/** Signs a history that never was, under the name of the log; the witness is asked to cosign it. */
export async function signSeal(scene: Scene, loot: Loot): Promise<readonly WayOutcome[]> {
  const policy = await readFile(join(scene.home, 'seals', 'policy'), 'utf8')
  const own = /^log (\S+)$/m.exec(policy)?.[1] ?? ''
  const witnessUrl = /^witness own \S+ (\S+)$/m.exec(policy)?.[1] ?? ''
  const [name = ''] = own.split('+')
  const signers = loot.keys.map((pkcs8) => createNoteSigner({ name, pkcs8 }))
  return Promise.all(
    signers.map(async (signer): Promise<WayOutcome> => {
      if (formatVerifierKey(signer.key) !== own) return refused('whoever verifies')
      const root = hashLeaf(new TextEncoder().encode('forged'))
      const text = formatCheckpoint({ origin: name, size: 1, root })
      const answer = await fetch(new URL('add-checkpoint', `${witnessUrl}/`), {
        method: 'POST',
        body: `old 0\n\n${signNote(text, [signer])}`,
      })
      return answer.status === 409 ? { possible: true, foundBy: 'witnesses' } : POSSIBLE
    }),
  )
}

const TABLES = [
  'record',
  'payload',
  'idem',
  'batch_sig',
  'head',
  'seal',
  'chain_checkpoint',
  'witnessed',
  'tree_hash',
  'task_map',
  'archive',
]

/** Deletes or changes what stands in the log, in every table and by every function for it. */
export const deleteRecords = (_: Scene, loot: Loot): Promise<readonly WayOutcome[]> =>
  entering(loot, 'baton_audit', async (pool) => {
    const today = new Date().toISOString().slice(0, 10)
    const part = today.replaceAll('-', '')
    const statements = [
      ...TABLES.flatMap((table) => [
        `delete from audit.${table}`,
        `truncate audit.${table}`,
        `drop table audit.${table}`,
      ]),
      `drop table audit.record_${part}`,
      `update audit.record set body = body`,
      `update audit.head set size = 0`,
      `alter table audit.record disable trigger all`,
      `set session_replication_role = replica`,
      `set role audit_owner`,
      `select audit.drop_day('${today}', 1, 0::smallint, 0)`,
      `select audit.expire(0::smallint, 1, gen_random_uuid(), 0)`,
    ]
    const outcomes: WayOutcome[] = []
    for (const text of statements) outcomes.push(await statement(() => pool.query({ text })))
    return outcomes
  })
