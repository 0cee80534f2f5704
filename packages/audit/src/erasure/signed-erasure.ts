// What people decided about an erasure, as they and the auditor signed it: the table alone proves nothing, and nobody is erased on
// its word.
import { canonicalJson, erasureFault, fromBase64, toBase64 } from '@baton/ledger'
import type { DecisionFault, People, RecordedSignature, SignedErasure } from '@baton/ledger'
import { verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { Erasure } from './erasures.ts'

/** What the people signed; the first two versions of the table knew no such signatures. */
export interface PeoplesSignatures {
  readonly requested?: RecordedSignature
  readonly confirmed?: RecordedSignature
}

/** Stands beside what it is of. */
export interface ErasureSignature extends PeoplesSignatures {
  readonly keyId: string
  /** Of the auditor, in base64; over the people's too. */
  readonly signature: string
}

/** The key that signs batches, for statements under names of their own. */
export interface ErasureSigner {
  readonly keyId: string
  sign(statement: Buffer): Buffer
}

type Decided = Pick<
  Erasure,
  'id' | 'basis' | 'requestedBy' | 'confirmedBy' | 'handoffIds' | 'taskIds'
>

const DECISION = 'baton/erasure-decision/v1\n'
const SIGNED_DECISION = 'baton/erasure-decision/v2\n'
const RECEIPT = 'baton/erasure-receipt/v1\n'

// Whoever confirmed is null in a plan, so that a plan never passes for a confirmation.
function statementOf(decided: Decided, { requested, confirmed }: PeoplesSignatures): Buffer {
  const { id, basis, requestedBy, confirmedBy } = decided
  const handoffIds = decided.handoffIds.toSorted()
  const taskIds = decided.taskIds.toSorted()
  const stated = { id, basis, requestedBy, confirmedBy, handoffIds, taskIds }
  if (requested === undefined) return Buffer.from(DECISION + canonicalJson(stated))
  const signed = { ...stated, requested, confirmed: confirmed ?? null }
  return Buffer.from(SIGNED_DECISION + canonicalJson(signed))
}

export const signErasure = (
  decided: Decided,
  signatures: PeoplesSignatures & Required<Pick<PeoplesSignatures, 'requested'>>,
  signer: ErasureSigner,
): ErasureSignature => ({
  ...signatures,
  keyId: signer.keyId,
  signature: toBase64(signer.sign(statementOf(decided, signatures))),
})

/** What a receipt's signature is over: its content in the canonical form. */
export const receiptStatement = (content: string): Buffer => Buffer.from(RECEIPT + content)

/**
 * `unknown`: by a key that is not trusted here, or, where nothing is signed, made before decisions were and without a
 * receipt yet.
 */
export type ErasureProven = 'proven' | 'altered' | 'unknown'

/** Whether a row says what an auditor signed. One that was completed before decisions were signed is proven by its receipt. */
export function judgeErasure(
  erasure: Erasure,
  batchKeys: ReadonlyMap<string, KeyObject>,
): ErasureProven {
  const { signed, receipt } = erasure
  if (signed !== null) return judge(signed, statementOf(erasure, signed), batchKeys)
  if (receipt === null) return 'unknown'
  const { sha256: _, keyId, signature, ...content } = receipt as Receipt
  const verdict = judge({ keyId, signature }, receiptStatement(canonicalJson(content)), batchKeys)
  return verdict === 'proven' && !agrees(content, erasure) ? 'altered' : verdict
}

/** An erasure and who has signed it. */
export const withSigners = (erasure: Erasure): SignedErasure => ({
  ...erasure,
  requestedSigned: erasure.signed?.requested ?? null,
  confirmedSigned: erasure.signed?.confirmed ?? null,
})

/**
 * Why an erasure that is proven is not carried on: undefined where two people signed it whose decisions count here. What was
 * confirmed before people signed erasures is carried to its end; since then no auditor signs the like of it.
 */
export const peoplesFault = (erasure: Erasure, people: People): DecisionFault | undefined =>
  erasure.signed?.requested === undefined && erasure.confirmedBy !== null
    ? undefined
    : erasureFault(withSigners(erasure), people)

interface Receipt extends ErasureSignature {
  readonly sha256: string
  readonly erasureId?: unknown
  readonly basis?: unknown
  readonly requestedBy?: unknown
  readonly confirmedBy?: unknown
  readonly tasks?: unknown
  readonly handoffs?: unknown
}

function agrees(
  {
    erasureId,
    basis,
    requestedBy,
    confirmedBy,
    tasks,
    handoffs,
  }: Omit<Receipt, 'sha256' | 'keyId' | 'signature'>,
  row: Decided,
): boolean {
  const said = [erasureId, basis, requestedBy, confirmedBy, tasks, handoffs]
  const stored = [row.id, row.basis, row.requestedBy, row.confirmedBy, row.taskIds, row.handoffIds]
  return JSON.stringify(said) === JSON.stringify(stored)
}

function judge(
  { keyId, signature }: ErasureSignature,
  statement: Buffer,
  batchKeys: ReadonlyMap<string, KeyObject>,
): ErasureProven {
  const key = batchKeys.get(keyId)
  if (key === undefined) return 'unknown'
  const bytes = fromBase64(String(signature))
  return bytes !== undefined && verify(null, statement, key, bytes) ? 'proven' : 'altered'
}
