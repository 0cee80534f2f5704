// A bundle of one whole chain, every record sealed and every batch signed, for the bench of verifiers.
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import * as ledger from '@baton/ledger'

const ORIGIN = 'baton/bench/1/s0'
const SEALS = 'baton/bench/seals'
const BATCH_RECORDS = 256
const SEALED_AT = '2026-11-20T12:00:00.000000Z'

const newKey = (): string =>
  generateKeyPairSync('ed25519')
    .privateKey.export({ format: 'der', type: 'pkcs8' })
    .toString('base64')

export interface WholeChain {
  readonly bundle: Uint8Array
  readonly policy: ledger.AuditorPolicy
  readonly bytesPerRecord: number
}

/** Records of tasks of ten each, as small as real ones: without verdicts and texts. */
export function wholeChain(records: number): WholeChain {
  const pkcs8 = newKey()
  const batchSigner = ledger.createBatchSigner(pkcs8)
  const sealSigner = ledger.createNoteSigner({ name: SEALS, pkcs8: newKey() })
  const bodies: Uint8Array[] = []
  const leaves: [number, string][] = []
  const batches: ledger.BundleBatch[] = []
  const tree = ledger.createCompactRange()
  let last: Uint8Array = ledger.GENESIS_HASH
  let task = { taskId: '', seq: -1, hash: last }
  for (let seq = 0; seq < records; seq += 1) {
    if (seq % 10 === 0) task = { taskId: randomUUID(), seq: -1, hash: ledger.GENESIS_HASH }
    const place = { origin: ORIGIN, seq, previousRecordHash: last, recordedAtMicros: 1e15 + seq }
    const links = { taskSeq: task.seq + 1, previousTaskRecordHash: task.hash }
    const keyIds = { batch: batchSigner.keyId, wrap: batchSigner.keyId }
    const { body, hash } = ledger.buildRecord(
      entryOf(task.taskId),
      { ...place, ...links },
      { payload: [], keyIds },
    )
    bodies.push(body)
    leaves.push([seq, ledger.toHex(hash)])
    tree.append(hash)
    last = hash
    task = { ...task, seq: task.seq + 1, hash }
    if ((seq + 1) % BATCH_RECORDS === 0 || seq + 1 === records) {
      const firstSeq = seq - (seq % BATCH_RECORDS)
      const statement = { origin: ORIGIN, firstSeq, lastSeq: seq, lastHash: ledger.toHex(hash) }
      const signature = ledger.toBase64(batchSigner.sign(statement))
      batches.push({ ...statement, keyId: batchSigner.keyId, signature })
    }
  }
  const seal = sealOf(tree, sealSigner)
  const chains = [{ origin: ORIGIN, size: records, checkpoint: null, leaves, hashes: [] }]
  const rest = {
    ends: null,
    handovers: [],
    erasures: [],
    receipts: [],
    payloads: null,
    policy: null,
    taskId: null,
  }
  const bundle = ledger.writeBundle({ ...rest, records: bodies, chains, seal, batches })
  return {
    bundle,
    policy: policyOf(pkcs8, sealSigner),
    bytesPerRecord: (bodies[0]?.length ?? 0) + 1,
  }
}

function entryOf(taskId: string): ledger.AuditEntry {
  return {
    event: 'EXECUTION_COMPLETED',
    taskId,
    handoffId: randomUUID(),
    parentHandoffId: null,
    attempt: 1,
    epoch: 1,
    fromAgent: { agentId: 'intake', agentVersion: '1.0.0', executionId: taskId },
    toAgent: { agentType: 'legal-analysis', agentVersion: '1.0.0' },
    traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    verdicts: null,
    reason: null,
    cost: { spentMicroUSD: 1, remainingMicroUSD: 2, promptTokens: 3, completionTokens: 4 },
    segments: [],
  }
}

function sealOf(tree: ledger.CompactRange, signer: ledger.NoteSigner) {
  const root = ledger.toBase64(tree.root())
  const entry = ledger.formatSealEntry({
    v: 1,
    at: SEALED_AT,
    chains: [{ origin: ORIGIN, size: tree.size, root }],
  })
  const log = { origin: SEALS, size: 1, root: ledger.hashLeaf(entry) }
  const checkpoint = ledger.signNote(ledger.formatCheckpoint(log), [signer])
  return { entry, proof: ledger.formatTlogProof({ extra: null, index: 0, path: [], checkpoint }) }
}

function policyOf(pkcs8: string, sealSigner: ledger.NoteSigner): ledger.AuditorPolicy {
  const append = ledger.createNoteSigner({ name: 'baton/bench/append', pkcs8 })
  const text = [
    `log ${ledger.formatVerifierKey(sealSigner.key)}`,
    'quorum none',
    `# baton-key batch ${ledger.formatVerifierKey(append.key)}`,
  ].join('\n')
  const parsed = ledger.parseAuditorPolicy(ledger.encodeUtf8(text))
  if (!parsed.ok) throw new Error(parsed.message)
  return parsed.policy
}
