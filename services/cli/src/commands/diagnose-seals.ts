// Whether the log is sealed, whether anybody outside has seen the seals, and with what people and waivers processes began.
import { findOldestRecordTime, readSealers, readTrace } from '@baton/audit'
import type { SealersSeen, VerifyReport } from '@baton/audit'
import { earlierTaskOfSettings, taskOfSettings } from '@baton/ledger'
import type { OperationDetail } from '@baton/ledger'
import type { CliSettings } from '../context.ts'
import type { OpenedDatabases } from '../instance/databases.ts'
import { counted } from '../terminal/figures.ts'
import { failed, passed, unknown } from './diagnosis.ts'
import type { Diagnosis } from './diagnosis.ts'

const SEALED = 'every record is sealed within a minute'
const KEY = 'the key of the seals that is trusted is the one that signs'
const SEEN = 'somebody outside the database has seen the seals'
const UNSEALED_MAX_MS = 60_000
/** A sealer that runs makes one each minute. */
const SEAL_AGE_MAX_MS = 180_000

export interface SealFacts {
  readonly seals: VerifyReport['seals']
  readonly records: number
  /** Whether the sealer's key is known here, and whether somebody said that there is no sealer. */
  readonly isKeyKnown: boolean
  readonly isWaived: boolean
  /** Milliseconds since 1970 of the oldest record that no seal covers; null where all are covered. */
  readonly unsealedSinceMs: number | null
  readonly nowMs: number
}

export function judgeSeals(facts: SealFacts): readonly Diagnosis[] {
  const { seals } = facts
  if (!facts.isKeyKnown) return [facts.isWaived ? WAIVED : NOBODY_SEALS]
  if (seals === null || seals.entries === 0)
    return [facts.records === 0 ? unknown('seals', SEALED, 'there is no record yet') : NO_SEAL]
  return [judgeAge(facts, seals), judgeWitnesses(seals), ...judgeKey(seals)]
}

const NOBODY_SEALS = failed('seals', SEALED, {
  text: 'nobody is known here who seals: start a sealer and set BATON_SEAL_PUBLIC_KEY (infra/README.md, “Start”); BATON_ALLOW_UNSEALED=1 accepts a log whose end can be cut off unseen',
})
const WAIVED = unknown(
  'seals',
  SEALED,
  'waived by BATON_ALLOW_UNSEALED: nobody notices when the end of the log is cut off',
)
const NO_SEAL = failed('seals', SEALED, {
  text: 'there are records, and no seal: start the sealer',
})

function judgeAge(
  { unsealedSinceMs, nowMs }: SealFacts,
  { sealedAt }: NonNullable<VerifyReport['seals']>,
): Diagnosis {
  const waitedMs = unsealedSinceMs === null ? 0 : nowMs - unsealedSinceMs
  if (waitedMs > UNSEALED_MAX_MS)
    return failed('seals', SEALED, {
      text: `a record has waited for its seal for ${seconds(waitedMs)}: look at the sealer`,
    })
  const ageMs = nowMs - Date.parse(sealedAt ?? '')
  return ageMs > SEAL_AGE_MAX_MS
    ? unknown(
        'seals',
        SEALED,
        `all are, but the newest seal is ${seconds(ageMs)} old: nobody seals now`,
      )
    : passed('seals', SEALED, `the newest seal is ${seconds(ageMs)} old`)
}

function judgeWitnesses({ entries, witnessed }: NonNullable<VerifyReport['seals']>): Diagnosis {
  if (witnessed === 0)
    return failed('seals', SEEN, {
      text: 'no anchor and no witness has kept any: who has the sealer’s key could sign another history',
    })
  return passed('seals', SEEN, `${counted(witnessed, 'seal')} of ${entries}`)
}

/** Nothing is said of a log whose key was never changed. */
function judgeKey({
  handovers,
  isKeyInForce,
}: NonNullable<VerifyReport['seals']>): readonly Diagnosis[] {
  const last = handovers.at(-1)
  if (last === undefined) return []
  const since = `it was handed to ${last.to} with seal ${last.seal} at ${last.at}`
  return [
    isKeyInForce
      ? { ...passed('seals', KEY, since), isTold: true }
      : unknown(
          'seals',
          KEY,
          `${since}: set BATON_SEAL_PUBLIC_KEY to the new one here too, else whoever has the key of before is believed (infra/rotation.md)`,
        ),
  ]
}

const SEALERS = 'one sealer seals the log, and another one waits where several were set up'

/** Nothing is said of a log that no sealer with a lease has sealed. */
export function judgeSealers(seen: SealersSeen | undefined): readonly Diagnosis[] {
  if (seen === undefined || seen.holder === '') return []
  const { holder, epoch, witness, isHeld, standbys } = seen
  if (!isHeld)
    return [
      unknown('seals', SEALERS, `nobody holds the lease; ${holder} held it last: start a sealer`),
    ]
  const leader = `${holder} seals (lease ${epoch})`
  if (witness === null)
    return [
      standbys.length === 0
        ? passed('seals', SEALERS, `${leader}, and no other one was set up`)
        : unknown(
            'seals',
            SEALERS,
            `${leader}, and ${standbys.join(', ')} waits in vain: a standby needs a witness that is asked first. Set BATON_SEALER_STANDBY=1 on every sealer (infra/sealer-standby.md)`,
          ),
    ]
  return [
    standbys.length === 0
      ? unknown('seals', SEALERS, `${leader}, and nobody stands by: start the other sealer`)
      : {
          ...passed('seals', SEALERS, `${leader}; ${standbys.join(', ')} stands by`),
          isTold: true,
        },
  ]
}

const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`

/** Reads only. */
export async function diagnoseSeals(
  { audit }: Pick<OpenedDatabases, 'audit'>,
  settings: Pick<CliSettings, 'BATON_ALLOW_UNSEALED'>,
  report: Pick<VerifyReport, 'seals' | 'records'>,
): Promise<readonly Diagnosis[]> {
  const covered = await audit.covered()
  const unsealed = (covered?.heads ?? []).flatMap(({ chain, size }) => {
    const seq = covered?.sealed.get(chain)?.size ?? 0
    return size > seq ? [{ chain, seq }] : []
  })
  const oldest = await findOldestRecordTime(audit.pool, unsealed)
  return [
    ...judgeSeals({
      seals: report.seals,
      records: report.records,
      isKeyKnown: covered !== undefined,
      isWaived: settings.BATON_ALLOW_UNSEALED,
      unsealedSinceMs: oldest === null ? null : oldest / 1_000,
      nowMs: Date.now(),
    }),
    ...judgeSealers(await readSealers(audit.pool)),
    ...(await diagnoseBegun({ audit })),
  ]
}

const PEOPLE = 'somebody can decide'
const WAIVERS = 'nothing is allowed that is not allowed otherwise'

/** As the log has it from the processes themselves. */
async function diagnoseBegun({
  audit,
}: Pick<OpenedDatabases, 'audit'>): Promise<readonly Diagnosis[]> {
  const begun = await Promise.all(
    ['gateway', 'receiver'].map(async (name) => [name, await begunWith(audit, name)] as const),
  )
  const known = begun.flatMap(([name, details]) => (details === undefined ? [] : [[name, details]]))
  return known.length === 0
    ? [unknown('seals', PEOPLE, 'no gateway and no receiver has said yet what it began with')]
    : judgeBegun(new Map(known as [string, readonly OperationDetail[]][]))
}

export function judgeBegun(
  begun: ReadonlyMap<string, readonly OperationDetail[]>,
): readonly Diagnosis[] {
  const without = [...begun].flatMap(([name, details]) =>
    details.some(({ code }) => code === 'PERSON') ? [] : [name],
  )
  const allowed = [...begun].flatMap(([name, details]) =>
    details.flatMap(({ code, value }) => (code === 'ALLOWED' ? [`${name}: ${value}`] : [])),
  )
  return [
    without.length === 0
      ? passed('seals', PEOPLE)
      : unknown(
          'seals',
          PEOPLE,
          `${without.join(' and ')} began without BATON_PEOPLE: nobody can approve, release or hold`,
        ),
    allowed.length === 0
      ? passed('seals', WAIVERS)
      : {
          ...unknown('seals', WAIVERS, 'some of what protects is switched off by name'),
          ids: allowed,
        },
  ]
}

/** What the newest process of a kind said; undefined where none has. */
async function begunWith(
  { pool, cold }: OpenedDatabases['audit'],
  process: string,
): Promise<readonly OperationDetail[] | undefined> {
  for (const taskId of [taskOfSettings(process), earlierTaskOfSettings(process)]) {
    const { records } = await readTrace(pool, taskId, { cold })
    const newest = records.findLast(({ body }) => body.event === 'SETTINGS_CHANGED')
    if (newest !== undefined) return newest.body.operation?.details
  }
  return undefined
}
