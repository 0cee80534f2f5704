// The statements on the copies of seals: what the sealer signed, for serving and for checking.
import { run } from '../database.ts'
import type { Database, Snapshot } from '../database.ts'
import { BINARY, copyOut } from '@baton/postgres'

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

/** Safe to repeat. Answers false when another entry stands at this place. */
export async function storeSeal(db: Database, seal: Seal): Promise<boolean> {
  const { seq, at, body, note, chains } = seal
  const rows = await run<{ stored: boolean }>(
    db,
    'store_seal',
    `select audit.store_seal($1::bigint, $2::timestamptz, $3::bytea, $4::text,
       $5::smallint[], $6::bigint[], $7::text[]) as stored`,
    [
      seq,
      at,
      Buffer.from(body),
      note,
      BINARY.int2.encode(chains.map(({ chain }) => chain)),
      BINARY.int8.encode(chains.map(({ size }) => size)),
      chains.map((chain) => chain.note),
    ],
  )
  return rows[0]?.stored === true
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
  run<ChainCheckpointRow>(
    db,
    'read_chain_checkpoints',
    'select chain, size, note from audit.chain_checkpoint order by chain',
  )

export interface SealRow {
  readonly seq: number
  readonly body: Buffer
  readonly note: string
}

/** The newest entry of the seal log. */
export async function readLastSeal(db: Database): Promise<SealRow | undefined> {
  const rows = await run<SealRow>(
    db,
    'read_last_seal',
    'select seq, body, note from audit.seal order by seq desc limit 1',
  )
  return rows[0]
}

/** The entry at one place of the seal log. */
export async function readSeal(db: Database, seq: number): Promise<SealRow | undefined> {
  const rows = await run<SealRow>(
    db,
    'read_seal',
    'select seq, body, note from audit.seal where seq = $1',
    [seq],
  )
  return rows[0]
}

const PAGE_SEALS = 2_000

/** The seal log in order, in bounded pages. */
export async function* scanSeals(
  snapshot: Snapshot,
  range: { readonly fromSeq: number; readonly toSeq?: number } = { fromSeq: 0 },
): AsyncGenerator<readonly Pick<SealRow, 'seq' | 'body'>[]> {
  const { toSeq = Number.MAX_SAFE_INTEGER } = range
  let next = range.fromSeq
  for (;;) {
    const page = await copyOut(
      snapshot.client,
      `select seq, body from audit.seal where seq >= ${next} and seq < ${toSeq}
       order by seq limit ${PAGE_SEALS}`,
      (fields) => ({ seq: fields.int8(0), body: fields.bytes(1) }),
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
  const rows = await run<WitnessedRow>(
    db,
    'read_witnessed',
    'select size, note from audit.witnessed',
  )
  return rows[0]
}
