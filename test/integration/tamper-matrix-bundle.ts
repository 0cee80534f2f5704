// What an attacker does to the evidence of one task, row by row of the tamper matrix. No key is stolen here.
import { recordHash, toBase64 } from '@baton/ledger'
import type { BundleParts } from '@baton/ledger'
import type { TamperWorld } from './tamper-matrix-world.ts'

/** The records of the task are 0, 2, 4 and 6 of their chain. */
export interface BundleCase {
  readonly row: string
  readonly attack: string
  readonly change: (parts: BundleParts, world: TamperWorld) => BundleParts
  /** `CHECK@seq`, or `CHECK` where it is about more than one record. */
  readonly found: string
}

type Chain = BundleParts['chains'][number]

const withBody =
  (at: number, edit: (text: string) => string, { relist = false } = {}) =>
  (parts: BundleParts): BundleParts => {
    const body = Buffer.from(edit(Buffer.from(parts.records[at] as Uint8Array).toString()))
    const records = parts.records.with(at, body)
    const hash = Buffer.from(recordHash(body)).toString('hex')
    const relisted = withChain(({ leaves }) => {
      return {
        leaves: leaves.map(([seq, listed]) => [seq, seq === at * 2 ? hash : listed] as const),
      }
    })
    return relist ? relisted({ ...parts, records }) : { ...parts, records }
  }

const withChain =
  (change: (chain: Chain) => Partial<Chain>) =>
  (parts: BundleParts): BundleParts => {
    return { ...parts, chains: parts.chains.map((chain) => ({ ...chain, ...change(chain) })) }
  }

const without =
  (...at: readonly number[]) =>
  (parts: BundleParts): BundleParts => {
    return { ...parts, records: parts.records.filter((_, index) => !at.includes(index)) }
  }

const attempted = (text: string) => text.replace('"attempt":1', '"attempt":2')
const swapped = (parts: BundleParts): BundleParts => {
  const [first, second, ...rest] = parts.records as [Uint8Array, Uint8Array, ...Uint8Array[]]
  return { ...parts, records: [second, first, ...rest] }
}

export const BUNDLE_CASES: readonly BundleCase[] = [
  { row: 'T01', attack: 'a body', change: withBody(1, attempted), found: 'RECORD_HASH@2' },
  {
    row: 'T02',
    attack: 'a listed hash',
    change: withChain(({ leaves }) => {
      return {
        leaves: leaves.map(([seq, hash]) => [seq, seq === 2 ? 'ab'.repeat(32) : hash] as const),
      }
    }),
    found: 'RECORD_HASH@2',
  },
  {
    row: 'T03',
    attack: 'the link inside a body, with its listed hash',
    change: withBody(
      1,
      (text) => text.replace(/("previousTaskRecordHash":")../, '$1zz').replace('zz', 'ab'),
      { relist: true },
    ),
    found: 'TASK_LINK@2',
  },
  {
    row: 'T04',
    attack: 'the checkpoint of the chain',
    change: withChain(({ checkpoint }) => {
      return { checkpoint: checkpoint?.replace('\n8\n', '\n9\n') ?? null }
    }),
    found: 'CHAIN_CHECKPOINT',
  },
  {
    row: 'T05',
    attack: 'a body with its listed hash',
    change: withBody(1, attempted, { relist: true }),
    found: 'TASK_LINK@4',
  },
  {
    row: 'T06',
    attack: 'the last record with its listed hash',
    change: withBody(3, attempted, { relist: true }),
    found: 'INCLUSION',
  },
  { row: 'T08', attack: 'a middle record left out', change: without(1), found: 'TASK_LINK@4' },
  { row: 'T09', attack: 'the first record left out', change: without(0), found: 'TASK_LINK@2' },
  {
    row: 'T10',
    attack: 'the last hop left out, its receipt still there',
    change: without(2, 3),
    found: 'RECEIPT@4',
  },
  {
    row: 'T14',
    attack: 'the proof of the chain left out',
    change: (parts) => ({ ...parts, chains: [] }),
    found: 'INCLUSION',
  },
  {
    row: 'T15',
    attack: 'a record twice',
    change: (parts) => ({ ...parts, records: parts.records.flatMap((one) => [one, one]) }),
    found: 'RECORD_ORDER@0',
  },
  { row: 'T16', attack: 'two records swapped', change: swapped, found: 'RECORD_ORDER@0' },
  {
    row: 'T17',
    attack: 'a record of another environment',
    change: withBody(3, (text) => text.replace('/development/', '/production1/'), { relist: true }),
    found: 'INCLUSION',
  },
  {
    row: 'T19',
    attack: 'another seal in place of the one in the log',
    change: (parts) => {
      const seal = parts.seal as NonNullable<BundleParts['seal']>
      const text = Buffer.from(seal.entry).toString().replace('"size":8', '"size":9')
      return { ...parts, seal: { ...seal, entry: Buffer.from(text) } }
    },
    found: 'SEAL_INCLUSION',
  },
  {
    row: 'T26',
    attack: 'a record that somebody else signed',
    change: (parts) => {
      const signature = toBase64(new Uint8Array(64))
      return { ...parts, batches: parts.batches.map((one) => ({ ...one, signature })) }
    },
    found: 'BATCH_SIGNATURE@0',
  },
  {
    row: 'T27',
    attack: 'a hop of another task put in',
    change: (parts, { foreign }) => {
      return { ...parts, records: parts.records.toSpliced(2, 0, foreign) }
    },
    found: 'RECORD_TASK@3',
  },
  {
    row: 'T28',
    attack: 'a seal log of one’s own, with a policy that trusts it',
    change: (parts) => {
      const seal = parts.seal as NonNullable<BundleParts['seal']>
      const proof = seal.proof.replace(/\n\u2014 [^\n]+\n$/, `\n\u2014 own ${'A'.repeat(92)}\n`)
      return { ...parts, seal: { ...seal, proof }, policy: 'log own\nquorum none\n' }
    },
    found: 'SEAL_SIGNATURE',
  },
  {
    row: 'T30',
    attack: 'a number written in another way',
    change: withBody(3, (text) => text.replace('"v":1,', '"v":1.0,'), { relist: true }),
    found: 'RECORD_CANONICAL@6',
  },
  {
    row: 'T31',
    attack: 'a hash of the proof offered as a leaf',
    change: withChain(({ leaves, hashes }) => {
      const inner = Buffer.from(hashes[0] as string, 'base64').toString('hex')
      return { leaves: [...leaves, [7, inner] as const], hashes: hashes.slice(1) }
    }),
    found: 'INCLUSION',
  },
  {
    row: 'T32',
    attack: 'a proof that is too short',
    change: withChain(({ hashes }) => ({ hashes: hashes.slice(1) })),
    found: 'INCLUSION',
  },
  {
    row: 'T32',
    attack: 'a proof that is too long',
    change: withChain(({ hashes }) => ({ hashes: [...hashes, hashes[0] as string] })),
    found: 'INCLUSION',
  },
  {
    row: 'T32',
    attack: 'a proof for another size',
    change: withChain(({ size }) => ({ size: size + 1 })),
    found: 'CHAIN_CHECKPOINT',
  },
]
