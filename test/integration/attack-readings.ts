// What the readings of a log say, and whether an attacked one gives a wrong answer: neither a finding, nor what was said before.
import {
  auditInvariants,
  createHoldFinder,
  findExcessPrivileges,
  findHeldTasks,
  listHolds,
  readCoveredSizes,
  readEvidence,
  readFileAnchor,
  readTrace,
  sealLogKeys,
  verifyChains,
} from '@baton/audit'
import { verifyBundle, writeBundle } from '@baton/ledger'
import { PEOPLE } from '@baton/testkit'
import type { AttackedLog, AttackWorld } from './attack-world.ts'

type TaskName = keyof AttackWorld['tasks']

/** `found`: a finding, a refusal, or words that it cannot be said. */
export type Answer =
  | { readonly kind: 'found'; readonly what: string }
  | { readonly kind: 'answered'; readonly said: unknown }

export type Reading =
  | 'verify'
  | 'doctor'
  | 'holds'
  | 'told holds'
  | `trace ${TaskName}`
  | `evidence ${TaskName}`

/** What a trace claims: these records, not altered, and none missing until then. */
interface TraceClaim {
  readonly hashes: readonly string[]
  /** Hashes of those that a signed head vouches for. */
  readonly proven: readonly string[]
  readonly end: { readonly until: string; readonly records: number } | null
}

export async function readAll(
  world: AttackWorld,
  log: AttackedLog,
): Promise<ReadonlyMap<Reading, Answer>> {
  const answers = new Map<Reading, Answer>()
  const ask = async (name: Reading, read: () => Promise<Answer>) => {
    const answer = await read().catch(refusal)
    answers.set(name, answer)
  }
  await ask('verify', () => verify(world, log, false))
  await ask('doctor', () => doctor(world, log))
  for (const name of Object.keys(world.tasks) as TaskName[]) {
    await ask(`trace ${name}`, () => trace(world, log, world.tasks[name]))
  }
  await ask('evidence hot', () => evidence(world, log))
  await ask('holds', () => holds(world, log))
  await ask('told holds', () => toldHolds(world, log))
  return answers
}

const found = (what: string): Answer => ({ kind: 'found', what })

/** A reading that refuses has found something; one that breaks down has not, it has only met what nobody thought of. */
function refusal(error: unknown): Answer {
  if (error instanceof TypeError || error instanceof RangeError) throw error
  return found(String((error as Error).message))
}

async function verify(world: AttackWorld, log: AttackedLog, full: boolean): Promise<Answer> {
  const { batchKeys, sealKey, vault } = world
  const anchors = [readFileAnchor(log.anchorFile, sealLogKeys(log.reader, sealKey))]
  const seals = { publicKey: sealKey, anchors }
  const report = await verifyChains({
    pool: log.reader,
    vault,
    batchKeys,
    people: PEOPLE.people,
    seals,
    cold: log.cold,
    full,
  })
  if (report.findings.length > 0)
    return found(report.findings.map(({ rule, message }) => `${rule} ${message}`).join('; '))
  if (!report.ok) return found(report.verdict)
  return { kind: 'answered', said: await digestOf(log, full) }
}

/** What doctor asks of the audit database beyond `verify`. */
async function doctor(world: AttackWorld, log: AttackedLog): Promise<Answer> {
  for (const { rule, check } of auditInvariants(log.reader)) {
    if ((await check()).length > 0) return found(rule)
  }
  if ((await findExcessPrivileges(log.reader)).length > 0) return found('privileges')
  return verify(world, log, true)
}

async function trace(
  { sealKey }: AttackWorld,
  { reader, cold, anchorFile }: AttackedLog,
  taskId: string,
): Promise<Answer> {
  const covered = await readCoveredSizes(reader, sealKey, seenBy(anchorFile))
  const { records, verified, ends } = await readTrace(reader, taskId, { covered, cold })
  if (!verified) return found('not verified')
  const claim: TraceClaim = {
    hashes: records.map(({ recordHash }) => recordHash),
    proven: records.flatMap(({ recordHash, assurance }) =>
      assurance === 'committed' ? [] : [recordHash],
    ),
    end: ends[0] ?? null,
  }
  return { kind: 'answered', said: claim }
}

const seenBy = (BATON_SEAL_ANCHOR_FILE: string) => ({
  BATON_SEAL_ANCHOR_FILE,
  BATON_SEAL_POLICY_FILE: undefined,
})

/** Nothing is sealed any more in a finished log, however long the attacks take. */
const SEAL_AGE_MAX_MS = 86_400_000

/** Whose erasure is allowed by an auditor that ran when it happened, and knows how long the chains were. */
async function holds(world: AttackWorld, log: AttackedLog): Promise<Answer> {
  const { tasks, sealKey, batchKeys, heads } = world
  const { reader, cold, anchorFile } = log
  const covered = { ...(await readCoveredSizes(reader, sealKey, seenBy(anchorFile))), heads }
  const asked = [tasks.held, tasks.hot, tasks.both]
  const reading = { reader, cold, batchKeys, covered, sealAgeMaxMs: SEAL_AGE_MAX_MS }
  const { held, unproven } = await findHeldTasks(reading, asked)
  const kept = [...held, ...unproven.map(({ taskId }) => taskId)]
  const free = asked.filter((taskId) => !kept.includes(taskId))
  return free.length === 0 ? found('nobody is free') : { kind: 'answered', said: free }
}

/** What an auditor that knows nothing yet answers to whoever asks which tasks are held. */
async function toldHolds(world: AttackWorld, log: AttackedLog): Promise<Answer> {
  const { sealKey, batchKeys } = world
  const { reader, cold, anchorFile } = log
  const covered = await readCoveredSizes(reader, sealKey, seenBy(anchorFile))
  const asking = { reader, cold, batchKeys, covered, sealAgeMaxMs: SEAL_AGE_MAX_MS }
  const { looked, holds: told } = await listHolds({ ...asking, finder: createHoldFinder() })
  if (!looked.proven) return found(looked.why ?? '')
  const wrong = told.find(({ state, isListed }) => state !== 'held' || !isListed)
  if (wrong !== undefined) return found(`${wrong.state} ${wrong.taskId}`)
  return { kind: 'answered', said: told.map(({ taskId }) => taskId) }
}

async function evidence(world: AttackWorld, log: AttackedLog): Promise<Answer> {
  const { tasks, receipts, policy } = world
  const held = receipts.map(({ origin, seq, recordHash }) => ({ origin, seq, recordHash }))
  const options = {
    reader: log.reader,
    cold: log.cold,
    taskIds: [tasks.hot],
    vault: undefined,
    policy: null,
  }
  const made = await readEvidence({ ...options, receipts: held })
  if (made === undefined) return found('no records')
  const bundle = writeBundle(made.parts, {})
  const report = verifyBundle(bundle, { policy, now: Date.now() / 1_000, thorough: true })
  if (report.verdict !== 'valid') {
    return found(JSON.stringify(report.checks.flatMap(({ findings }) => findings)))
  }
  return {
    kind: 'answered',
    said: made.parts.records.map((record) => Buffer.from(record).toString('hex')),
  }
}

/** Everything that "nothing was altered, added or removed" is said of. */
const PROTECTED = ['head', 'record', 'idem', 'batch_sig', 'seal', 'legal_hold']
/** Under the newest seal's note these vouch for nothing more, and only a full verification opens them. */
const ONLY_IN_FULL = ['signature', 'note']

async function digestOf({ superuser }: AttackedLog, full: boolean): Promise<readonly string[]> {
  const left = full ? '{}' : `{${ONLY_IN_FULL.join(',')}}`
  const digests: string[] = []
  for (const table of PROTECTED) {
    const text = `select md5(string_agg(r, '|' order by r)) as digest
      from (select (to_jsonb(t) - '${left}'::text[])::text as r from audit.${table} t) rows`
    const { rows } = await superuser.query<{ digest: string }>({ text })
    digests.push(`${table} ${rows[0]?.digest}`)
  }
  return digests
}

/** Why an answer after an attack is wrong; undefined where it found something, or is as right as the one before. */
export function faultOf(reading: Reading, before: Answer, after: Answer): string | undefined {
  if (before.kind === 'found')
    throw new Error(`${reading} finds something in an untouched log: ${before.what}`)
  if (after.kind === 'found') return undefined
  if (reading.startsWith('trace')) {
    return traceFault(before.said as TraceClaim, after.said as TraceClaim)
  }
  if (reading === 'holds') return holdFault(before.said as string[], after.said as string[])
  const same = JSON.stringify(before.said) === JSON.stringify(after.said)
  return same ? undefined : `says that all is well of ${JSON.stringify(after.said)}`
}

function holdFault(before: readonly string[], after: readonly string[]): string | undefined {
  const freed = after.filter((taskId) => !before.includes(taskId))
  return freed.length === 0 ? undefined : `lets ${freed.length} held tasks go`
}

function traceFault(truth: TraceClaim, claim: TraceClaim): string | undefined {
  const strange = claim.proven.filter((hash) => !truth.hashes.includes(hash))
  if (strange.length > 0) return `calls ${strange.length} records proven that never were`
  if (claim.end === null) return undefined
  const until = truth.end?.until ?? ''
  const isOlder = claim.end.until < until
  const records = truth.hashes.slice(0, claim.end.records)
  const isRight = records.every((hash) => claim.hashes.includes(hash))
  if (!isRight || claim.hashes.some((hash) => !truth.hashes.includes(hash)))
    return 'shows other records as the whole task'
  return isOlder || claim.end.records === truth.end?.records
    ? undefined
    : 'says that the task had another number of records'
}
