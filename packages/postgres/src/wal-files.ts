// Names and numbers of write-ahead log: positions, segments and the files that hold them, as Postgres has them.
import { readdir } from 'node:fs/promises'
import type pg from 'pg'

const LSN_HALF = 32n
const NAME = /^([0-9A-F]{8})([0-9A-F]{8})([0-9A-F]{8})(\.partial)?$/
const HISTORY = /^[0-9A-F]{8}\.history$/
const HEX = 16

export const readLsn = (lsn: string): bigint => {
  const [high = '0', low = '0'] = lsn.split('/')
  return (BigInt(`0x${high}`) << LSN_HALF) | BigInt(`0x${low}`)
}

export const formatLsn = (position: bigint): string =>
  `${(position >> LSN_HALF).toString(HEX)}/${(position & 0xffff_ffffn).toString(HEX)}`.toUpperCase()

/** A whole file of write-ahead log, or one that is still written to. */
export interface WalFile {
  readonly name: string
  readonly timeline: number
  /** By which segments of one server are in order, whatever the timeline. */
  readonly segment: bigint
  readonly isPartial: boolean
}

const SEGMENTS_PER_ID = (segmentBytes: number): bigint => 0x1_0000_0000n / BigInt(segmentBytes)

export function walFileName(timeline: number, segment: bigint, segmentBytes: number): string {
  const perId = SEGMENTS_PER_ID(segmentBytes)
  return [BigInt(timeline), segment / perId, segment % perId]
    .map((part) => part.toString(HEX).toUpperCase().padStart(8, '0'))
    .join('')
}

function readWalName(name: string, segmentBytes: number): WalFile | undefined {
  const found = NAME.exec(name)
  if (found === null) return undefined
  const [, timeline = '', id = '', low = '', partial] = found
  return {
    name,
    timeline: Number.parseInt(timeline, HEX),
    segment: BigInt(`0x${id}`) * SEGMENTS_PER_ID(segmentBytes) + BigInt(`0x${low}`),
    isPartial: partial !== undefined,
  }
}

export const isHistoryName = (name: string): boolean => HISTORY.test(name)

/** In order of timeline and segment; none where there is no such folder. */
export async function listWalFiles(folder: string, segmentBytes: number): Promise<WalFile[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return names
    .map((name) => readWalName(name, segmentBytes))
    .filter((file) => file !== undefined)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** How long a file of the write-ahead log is where nobody chose otherwise when the server was made. */
export const WAL_SEGMENT_BYTES_USUAL = 16_777_216

/** How long a file of a server's write-ahead log is. */
export async function segmentBytesOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ bytes: number }>(
    `select setting::integer as bytes from pg_settings where name = 'wal_segment_size'`,
  )
  return rows[0]?.bytes ?? WAL_SEGMENT_BYTES_USUAL
}
