// What a superuser does who also stole the key of the batches: history that is valid in itself.
import { canonicalBytes, createBatchSigner, recordHash } from '@baton/ledger'
import type { AuditFixture } from './audit-fixture.ts'

interface Row {
  readonly seq: number
  readonly body: Buffer
}

/** Rewrites chain `chain` from record `from` on with fresh hashes, links, index rows and signatures. */
export async function rewriteSuffix(
  fixture: AuditFixture,
  { chain, from }: { readonly chain: number; readonly from: number },
): Promise<void> {
  const { superuser } = fixture
  const signer = createBatchSigner(fixture.signingKey)
  const { rows } = await superuser.query<Row>({
    text: 'select seq, body from audit.record where chain = $1 order by seq',
    values: [chain],
  })
  const tasks = new Map<string, string>()
  let previous = '00'.repeat(32)
  let origin = ''
  const hashes = new Map<number, Buffer>()
  for (const { seq, body } of rows) {
    const record = JSON.parse(body.toString()) as Record<string, unknown>
    origin = record['origin'] as string
    const taskId = record['taskId'] as string
    const changed = { ...record, attempt: 7, previousRecordHash: previous }
    const linked = { ...changed, previousTaskRecordHash: tasks.get(taskId) ?? '00'.repeat(32) }
    const bytes = seq < from ? body : Buffer.from(canonicalBytes(linked))
    const hash = recordHash(bytes)
    previous = hash.toString('hex')
    tasks.set(taskId, previous)
    hashes.set(seq, hash)
    if (seq < from) continue
    await superuser.query({
      text: 'update audit.record set body = $3, record_hash = $4 where chain = $1 and seq = $2',
      values: [chain, seq, bytes, hash],
    })
    await superuser.query({
      text: 'update audit.idem set record_hash = $3 where chain = $1 and seq = $2',
      values: [chain, seq, hash],
    })
  }
  const batches = await superuser.query<{ first: number; last: number }>({
    text: 'select first_seq as first, last_seq as last from audit.batch_sig where chain = $1',
    values: [chain],
  })
  for (const { first: firstSeq, last: lastSeq } of batches.rows) {
    const hash = hashes.get(lastSeq) as Buffer
    const signature = signer.sign({ origin, firstSeq, lastSeq, lastHash: hash.toString('hex') })
    await superuser.query({
      text: 'update audit.batch_sig set last_hash = $3, signature = $4 where chain = $1 and last_seq = $2',
      values: [chain, lastSeq, hash, signature],
    })
  }
  await superuser.query({
    text: 'update audit.head set last_hash = $2 where chain = $1',
    values: [chain, Buffer.from(previous, 'hex')],
  })
}

/** Cuts the last `count` records off with everything that refers to them, and sets the head back. */
export async function truncateChain(
  { superuser }: AuditFixture,
  { chain, count }: { readonly chain: number; readonly count: number },
): Promise<void> {
  const text = `
    delete from audit.record r using audit.head h where r.chain = ${chain} and h.chain = ${chain} and r.seq >= h.size - ${count};
    delete from audit.idem r using audit.head h where r.chain = ${chain} and h.chain = ${chain} and r.seq >= h.size - ${count};
    delete from audit.payload r using audit.head h where r.chain = ${chain} and h.chain = ${chain} and r.seq >= h.size - ${count};
    delete from audit.batch_sig r using audit.head h where r.chain = ${chain} and h.chain = ${chain} and r.last_seq >= h.size - ${count};
    update audit.head set size = size - ${count},
      last_hash = (select record_hash from audit.record where chain = ${chain} order by seq desc limit 1),
      last_recorded_at = (select recorded_at from audit.record where chain = ${chain} order by seq desc limit 1)
    where chain = ${chain}`
  await superuser.query({ text })
}
