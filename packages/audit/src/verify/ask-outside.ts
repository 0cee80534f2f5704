// What is known of the seal log outside its database, asked before the database is read: what somebody else has, the database had before.
import type { KeyObject } from 'node:crypto'
import type { Anchor, AnchoredHead } from '../seals/anchors/anchor.ts'
import type { SealerKnowledge } from '../seals/sealer-state.ts'
import type { Database } from '../database.ts'
import { readWitnessed } from '../seals/seals.ts'

/** Who signs seals and where they were shown; none of it comes from the database. */
export interface SealTrust {
  /** The sealer's Ed25519 public key. */
  readonly publicKey: KeyObject
  /** Everybody who may have seen a seal. One that does not answer is listed as such. */
  readonly anchors: readonly Pick<Anchor, 'name' | 'latest'>[]
  /** What the sealer wrote down last; left out where it cannot be read from here. */
  readonly state?: () => Promise<SealerKnowledge | undefined>
}

/** One thing that a verification was compared with, and how it went. */
export interface Comparison {
  /** `file`, `s3 BUCKET`, `witness NAME`, `sealer state`, `cosigned copy` or `chain checkpoints`. */
  readonly name: string
  /** Whether it stands out of the reach of the database's superuser. */
  readonly outside: boolean
  /** How many seals it knows; null where that cannot be said. */
  readonly seals: number | null
  /** When it was last told, by its own word; null where it does not say. */
  readonly at: string | null
  /** `nothing`: it knows of no seal, and is not known to have seen one. */
  readonly outcome: 'agreed' | 'nothing' | 'differs' | 'missing' | 'cut' | 'not reachable'
}

export interface AskedAnchor {
  readonly name: string
  readonly head: AnchoredHead | undefined
  readonly answered: boolean
  readonly foreign: boolean
  /** What it has acknowledged, as the sealer or the database knew before it was asked; 0 where nobody knows. */
  readonly acknowledged: number
}

export interface Outside {
  readonly anchors: readonly AskedAnchor[]
  readonly state: {
    readonly known: SealerKnowledge | undefined
    /** Whether it was to be asked, and could be. */
    readonly asked: boolean
    readonly answered: boolean
  }
}

/** Asks the sealer's state, then every anchor for the newest checkpoint that it has. */
export async function askOutside(db: Database, trust: SealTrust): Promise<Outside> {
  const state = await askState(trust)
  const witnessed = await readWitnessed(db)
  const anchors = await askAnchors(trust.anchors)
  // With a single anchor, what the database calls seen outside is what that one has seen.
  const alone = anchors.length === 1 ? (witnessed?.size ?? 0) : 0
  return {
    state,
    anchors: anchors.map((anchor) => {
      const acknowledged = state.known?.acknowledged.get(anchor.name) ?? alone
      return { ...anchor, acknowledged }
    }),
  }
}

async function askState(trust: SealTrust): Promise<Outside['state']> {
  if (trust.state === undefined) return { known: undefined, asked: false, answered: false }
  try {
    return { known: await trust.state(), asked: true, answered: true }
  } catch {
    return { known: undefined, asked: true, answered: false }
  }
}

/** What it holds was not signed as this log. */
const FOREIGN: ReadonlySet<string> = new Set(['BATON_ANCHOR_FOREIGN', 'BATON_SEAL_FORKED'])

/** Asks every anchor, and takes nothing for acknowledged. */
export const askAnchors = (anchors: SealTrust['anchors']): Promise<readonly AskedAnchor[]> =>
  Promise.all(
    anchors.map(async ({ name, latest }) => {
      const nobody = { name, head: undefined, acknowledged: 0 }
      try {
        return { ...nobody, head: await latest(), answered: true, foreign: false }
      } catch (error) {
        const foreign = FOREIGN.has((error as { code?: string }).code ?? '')
        return { ...nobody, answered: foreign, foreign }
      }
    }),
  )
