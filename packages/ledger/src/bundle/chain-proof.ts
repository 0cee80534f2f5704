// What an exporter puts into a bundle about one chain: the known leaves and one proof for all of them.
import { toBase64, toHex } from '../bytes.ts'
import type { HashReader } from '../tree/nodes.ts'
import { proveSubset } from '../tree/subset.ts'
import type { ChainProof } from './format.ts'

interface ChainProofOptions {
  readonly origin: string
  /** The size that the seal of the bundle gives for the chain, never the current one. */
  readonly size: number
  /** The chain's own checkpoint of that size, as signed; null without one. */
  readonly checkpoint: string | null
  /** The seqs of the bundle's records and of the ends of their batches; those at or after `size` are left out. */
  readonly seqs: readonly number[]
  readonly read: HashReader
}

/** Reads the hashes of a chain's stored tree into its part of `proof.json`. */
export async function proveChain(options: ChainProofOptions): Promise<ChainProof> {
  const { origin, size, checkpoint, read } = options
  const indexes = [...new Set(options.seqs)]
    .filter((seq) => seq < size)
    .sort((left, right) => left - right)
  const known = await read(indexes.map((index) => ({ level: 0, index })))
  const leaves = indexes.map((seq, at) => [seq, toHex(known[at] as Uint8Array)] as const)
  const hashes = await proveSubset(read, { indexes, size })
  return { origin, size, checkpoint, leaves, hashes: hashes.map(toBase64) }
}
