// The statements on the copies of seals: what the sealer signed, for serving and for checking.
import { BINARY, columns, copyOut, text } from '@baton/postgres'
import { one } from '@baton/postgres/statements'
import { audit, run } from '../database.ts'
import type { Database, Snapshot } from '../database.ts'
import type { HeldLease } from './seal-lease.ts'

/** One entry of the seal log as it is published. */
export interface Seal {
  /** Its place in the seal log, from 0. */
  readonly seq: number
  /** `formatInstant`'s form. */
  readonly at: string
  /** The canonical bytes of the entry. */
  readonly body: Uint8Array
  /** The signed checkpoint of the seal log that ends in this entry. */
  readonly note: string
  /** The signed checkpoint of each chain at the size that the entry says. */
  readonly chains: readonly {
    readonly chain: number
    readonly size: number
    readonly note: string
  }[]
}

const CHECKPOINTS = columns({ chain: BINARY.int2, size: BINARY.int8, note: text })
const PUBLISH_SEAL = `select audit.publish_seal($1::bigint, $2::text,
  $3::bigint, $4::timestamptz, $5::bytea, $6::text,
  ${CHECKPOINTS.parameters({ after: 6 })}) as outcome`

/** `fenced`: the lease is not held any more, and nothing was stored. `other`: another entry stands at this place. */
export type StoredSeal = 'stored' | 'fenced' | 'other'

/** Safe to repeat. */
export async function publishSeal(
  db: Database,
  { epoch, holder }: HeldLease,
  { seq, at, body, note, chains }: Seal,
): Promise<StoredSeal> {
  const rows = await run<{ outcome: StoredSeal }>(db, 'publish_seal', PUBLISH_SEAL, [
    epoch,
    holder,
    seq,
    at,
    Buffer.from(body),
    note,
    ...CHECKPOINTS.values(chains),
  ])
  return rows[0]?.outcome ?? 'other'
}

/** Keeps a seal for whoever takes over, before the witness is asked: from then on it is the only one at its place. Safe to repeat. */
export async function proposeSeal(
  db: Database,
  { epoch, holder }: HeldLease,
  { seq, body, note }: Pick<Seal, 'seq' | 'body' | 'note'>,
): Promise<StoredSeal> {
  const rows = await run<{ outcome: StoredSeal }>(
    db,
    'propose_seal',
    'select audit.propose_seal($1::bigint, $2::text, $3::bigint, $4::bytea, $5::text) as outcome',
    [epoch, holder, seq, Buffer.from(body), note],
  )
  return rows[0]?.outcome ?? 'other'
}

/** Stores the cosigned checkpoint of the seal log; an older one changes nothing. */
export async function storeWitnessed(
  db: Database,
  { size, note }: { readonly size: number; readonly note: string },
): Promise<void> {
  await run(db, 'store_witnessed', 'select audit.store_witnessed($1::bigint, $2::text)', [
    size,
    note,
  ])
}

export interface ChainCheckpointRow {
  readonly chain: number
  readonly size: number
  readonly note: string
}

/** The newest signed checkpoint of each chain that has one. */
export const readChainCheckpoints = (db: Database): Promise<ChainCheckpointRow[]> =>
  run(
    db,
    'read_chain_checkpoints',
    audit.selectFrom('audit.chain_checkpoint').select(['chain', 'size', 'note']).orderBy('chain'),
  )

export interface SealRow {
  readonly seq: number
  readonly body: Buffer
  readonly note: string
}

const SEALS = audit.selectFrom('audit.seal').select(['seq', 'body', 'note'])

/** The newest entry of the seal log. */
export async function readLastSeal(db: Database): Promise<SealRow | undefined> {
  return (await run(db, 'read_last_seal', SEALS.orderBy('seq', 'desc').limit(one)))[0]
}

/** The entry at one place of the seal log. */
export async function readSeal(db: Database, seq: number): Promise<SealRow | undefined> {
  return (await run(db, 'read_seal', SEALS.where('seq', '=', seq)))[0]
}

/** The seal that is kept for one place and not published yet. */
export async function readProposedSeal(db: Database, seq: number): Promise<SealRow | undefined> {
  const statement = audit.selectFrom('audit.proposed_seal').select(['seq', 'body', 'note'])
  return (await run(db, 'read_proposed_seal', statement.where('seq', '=', seq)))[0]
}

const PAGE_SEALS = 2_000

/** The seal log in order, in bounded pages. */
export async function* scanSeals(
  snapshot: Snapshot,
  range: { readonly fromSeq: number; readonly toSeq?: number } = { fromSeq: 0 },
): AsyncGenerator<readonly Pick<SealRow, 'seq' | 'body' | 'note'>[]> {
  const { toSeq = Number.MAX_SAFE_INTEGER } = range
  let next = range.fromSeq
  for (;;) {
    const page = await copyOut(
      snapshot.client,
      `select seq, body, note from audit.seal where seq >= ${next} and seq < ${toSeq}
       order by seq limit ${PAGE_SEALS}`,
      (fields) => ({ seq: fields.int8(0), body: fields.bytes(1), note: fields.text(2) }),
    )
    const last = page.at(-1)
    if (last === undefined) return
    next = last.seq + 1
    yield page
  }
}

export interface WitnessedRow {
  readonly size: number
  readonly note: string
}

/** The newest checkpoint of the seal log that enough witnesses have cosigned. */
export async function readWitnessed(db: Database): Promise<WitnessedRow | undefined> {
  const statement = audit.selectFrom('audit.witnessed').select(['size', 'note'])
  return (await run(db, 'read_witnessed', statement))[0]
}
