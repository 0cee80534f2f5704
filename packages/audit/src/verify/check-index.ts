// The idempotency index compared with the records beyond each record's own row: what it remembers of requests, and rows of no record.
import { uuidBytes } from '@baton/ledger'
import type { Finding } from '@baton/ledger'
import type { ChainHead } from '../append/heads.ts'
import { judgeDigest } from '../append/request-digest.ts'
import { audit, run } from '../database.ts'
import type { Snapshot } from '../database.ts'
import { NO_FINDINGS } from './state-check.ts'
import type { StateCheck } from './state-check.ts'

/**
 * Without `requestKeys` what the index remembers of requests is not looked at. `taggedFrom` answers from which record of a
 * chain on every row has a tag: that they all lost it shows in none of them.
 */
export function checkIndex(
  snapshot: Snapshot,
  requestKeys: readonly Buffer[] | undefined,
  taggedFrom: (origin: string) => number,
): StateCheck {
  const heads: ChainHead[] = []
  let isTagged = false
  return {
    next(head, { columns: { seq }, index }) {
      if (heads.at(-1) !== head) {
        heads.push(head)
        isTagged = false
      }
      if (seq >= taggedFrom(head.origin)) isTagged = true
      if (requestKeys === undefined || index === undefined) return NO_FINDINGS
      const digest = judgeDigest(index.requestHash, uuidBytes(index.key), requestKeys)
      // Before its first tag a chain was written by versions that made none; behind it each row has one.
      if (digest === 'authentic') isTagged = true
      const isAltered = digest === 'altered' || (digest === 'untagged' && isTagged)
      return isAltered ? [indexFinding(head, seq, ALTERED)] : NO_FINDINGS
    },
    async finish() {
      const counts = await countIndexed(snapshot)
      const known = new Set(heads.map(({ chain }) => chain))
      const strange = [...counts].filter(([chain]) => !known.has(chain))
      return [
        ...heads
          .filter(({ chain, size }) => (counts.get(chain) ?? 0) > size)
          .map((head) => indexFinding(head, null, EXTRA)),
        ...strange.map(([chain]) => indexFinding({ origin: `chain ${chain}` }, null, EXTRA)),
      ]
    },
  }
}

const ALTERED = 'what the idempotency index remembers of the request was changed'
const EXTRA = 'the idempotency index has rows of no record'

const indexFinding = (
  { origin }: Pick<ChainHead, 'origin'>,
  seq: number | null,
  message: string,
): Finding => ({ origin, seq, rule: 'RECORD_INDEX', message })

/** Rows by chain; the index never loses one, also when its record expires. */
async function countIndexed(snapshot: Snapshot): Promise<ReadonlyMap<number, number>> {
  const rows = await run(
    snapshot,
    'count_indexed',
    audit
      .selectFrom('audit.idem')
      .select(({ fn }) => ['chain', fn.countAll<number>().as('rows')])
      .groupBy('chain'),
  )
  return new Map(rows.map(({ chain, rows: count }) => [chain, count]))
}
