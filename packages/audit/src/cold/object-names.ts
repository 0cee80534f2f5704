// What the objects of one log are called: C2SP tlog-tiles below the log's origin, payloads beside the entries.
import { TILE_WIDTH, tilePath } from '@baton/ledger'
import type { Tile } from '@baton/ledger'

const ENTRIES = 'tile/entries/'
const PAYLOADS = 'payload/'

export const tileName = (origin: string, tile: Tile): string => `${origin}/${tilePath(tile)}`

/** The encrypted segments of the records of one entry bundle. */
export const payloadName = (origin: string, { index, width }: Omit<Tile, 'level'>): string =>
  `${origin}/${tilePath({ level: 'entries', index, width }).replace(ENTRIES, PAYLOADS)}`

/** What every partial tile or bundle in the place of this full one begins with. */
export const partialPrefix = (name: string): string => `${name}.p/`

/** Where a record stands. */
export const bundleOf = (seq: number): number => Math.floor(seq / TILE_WIDTH)
