// What may be sealed: every chain that was ever sealed is there, and extends what was sealed of it.
import type { KeyObject } from 'node:crypto'
import { checkConsistency, readHeads } from '@baton/audit'
import type { ChainHead, Snapshot } from '@baton/audit'
import { compactRangeFromState, createCompactRange, GENESIS_HASH } from '@baton/ledger'
import type { ChainStart, Finding } from '@baton/ledger'
import type { CheckedChain } from './sign-seal.ts'
import type { SealedPart, SealerState } from './state-file.ts'

interface CheckOptions {
  readonly state: SealerState | undefined
  readonly batchKeys: ReadonlyMap<string, KeyObject>
  /** Records read from one chain in one round. */
  readonly recordsMax: number
}

export interface CheckedChains {
  readonly findings: readonly Finding[]
  readonly chains: readonly CheckedChain[]
  /** Whether there is a record that no seal covers yet. */
  readonly grew: boolean
}

export const GENESIS: ChainStart = { size: 0, lastHash: GENESIS_HASH, lastMicros: 0 }

/** Reads what every chain gained since `state` in one snapshot. A finding means: sign nothing. */
export async function checkChains(
  snapshot: Snapshot,
  { state, ...options }: CheckOptions,
): Promise<CheckedChains> {
  const heads = await readHeads(snapshot)
  const parts = new Map(state?.chains.map((part) => [part.origin, part]))
  const findings = missingChains(heads, state?.chains ?? [])
  const chains: CheckedChain[] = []
  for (const head of heads) {
    const part = parts.get(head.origin)
    const tree = part === undefined ? createCompactRange() : compactRangeFromState(part.tree)
    const consistency = await checkConsistency(snapshot, {
      ...options,
      head,
      start: part ?? GENESIS,
      onLeaves: (hashes) => hashes.forEach((hash) => tree.append(hash)),
    })
    findings.push(...consistency.findings)
    chains.push({ head, tree, end: consistency.end })
  }
  const grew = chains.some(({ head, tree }) => tree.size !== (parts.get(head.origin)?.size ?? 0))
  return { findings, chains, grew }
}

function missingChains(heads: readonly ChainHead[], sealed: readonly SealedPart[]): Finding[] {
  const missing = sealed.filter(
    (part) => !heads.some(({ chain, origin }) => chain === part.chain && origin === part.origin),
  )
  return missing.map(({ origin, size }) => {
    const message = `a chain with ${size} sealed records is not in the database`
    return { origin, seq: null, rule: 'CHAIN_MISSING', message }
  })
}
