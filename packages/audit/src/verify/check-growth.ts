// What the sealer reads: the records that a chain gained, re-hashed from their bytes and checked one by one.
import type { KeyObject } from 'node:crypto'
import { createChainVerifier } from '@baton/ledger'
import type { ChainStart, Finding } from '@baton/ledger'
import type { Snapshot } from '../database.ts'
import type { ChainHead } from '../append/heads.ts'
import { scanChain } from './scan-chain.ts'

interface GrowthOptions {
  readonly head: ChainHead
  /** Where the sealed part ends. */
  readonly start: ChainStart
  /** Trusted public keys of append services, by key id. */
  readonly batchKeys: ReadonlyMap<string, KeyObject>
  /** Takes the leaf hashes of whole batches, in order. */
  readonly onLeaves: (hashes: readonly Uint8Array[]) => void
  /** Records read at most; what is left comes next time. */
  readonly recordsMax: number
}

interface Growth {
  readonly findings: readonly Finding[]
  /** Where the part ends that may be sealed now: the end of a signed batch. */
  readonly end: ChainStart
}

/** Stops at the first page with a finding; nothing from there on may be sealed. */
export async function checkGrowth(snapshot: Snapshot, options: GrowthOptions): Promise<Growth> {
  const { head, start, batchKeys, onLeaves, recordsMax } = options
  const { chain, origin } = head
  const verifier = createChainVerifier({ origin, batchKeys, start })
  const shrunk = shrinkage(head, start)
  if (shrunk !== undefined) return { findings: [shrunk], end: start }
  if (head.size === start.size) return { findings: verifier.finish(head), end: start }
  const toSeq = Math.min(head.size, start.size + recordsMax)
  let waiting: Uint8Array[] = []
  for await (const page of scanChain(snapshot, { chain, fromSeq: start.size, toSeq })) {
    const findings = page.flatMap((record) => verifier.next(record))
    if (findings.length > 0) return { findings, end: start }
    for (const { recordHash, batch } of page) {
      waiting.push(recordHash)
      if (batch === undefined) continue
      onLeaves(waiting)
      waiting = []
    }
  }
  const findings = toSeq === head.size ? verifier.finish(head) : []
  return { findings, end: verifier.signedEnd }
}

function shrinkage(head: ChainHead, start: ChainStart): Finding | undefined {
  if (head.size >= start.size) return undefined
  const message = `the chain has ${head.size} records, ${start.size} were sealed`
  return { origin: head.origin, seq: head.size, rule: 'SEAL_SIZE', message }
}
