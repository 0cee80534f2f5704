// What the index remembers of a request, so that a repeated key with other content is noticed; and whether it still says so.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { AuditEntry } from '@baton/ledger'

const DIGEST_BYTES = 32
const TAG_BYTES = 16

/**
 * The keyed digest of a request, and behind it a tag over the record's id and that digest: nothing of it can be recomputed
 * from the record, whose texts may be erased, so whoever has the key can tell by the tag that neither was changed.
 */
export function digestRequest(entry: AuditEntry, key: Buffer, requestKey: Buffer): Buffer {
  const digest = digestOf(entry, requestKey)
  return Buffer.concat([digest, tagOf(key, digest, requestKey)])
}

/** Whether two requests are the same one; rows made before there were tags have none. */
export const isSameRequest = (left: Buffer, right: Buffer): boolean =>
  left.subarray(0, DIGEST_BYTES).equals(right.subarray(0, DIGEST_BYTES))

/** `untagged`: stored before there were tags, so that nothing can be said of it. */
export type StoredDigest = 'authentic' | 'untagged' | 'altered'

/** `key` is the id of the record, as 16 bytes; `requestKeys` all that there ever were. */
export function judgeDigest(
  stored: Buffer,
  key: Buffer,
  requestKeys: readonly Buffer[],
): StoredDigest {
  if (stored.length === DIGEST_BYTES) return 'untagged'
  if (stored.length !== DIGEST_BYTES + TAG_BYTES) return 'altered'
  const [digest, tag] = [stored.subarray(0, DIGEST_BYTES), stored.subarray(DIGEST_BYTES)]
  const isTagged = requestKeys.some((one) => timingSafeEqual(tagOf(key, digest, one), tag))
  return isTagged ? 'authentic' : 'altered'
}

const tagOf = (key: Buffer, digest: Buffer, requestKey: Buffer): Buffer =>
  createHmac('sha256', requestKey)
    .update('baton/request-tag/v1\n')
    .update(key)
    .update(digest)
    .digest()
    .subarray(0, TAG_BYTES)

// A fixed order of fields, so that the same request has one digest whoever wrote its JSON.
function digestOf(entry: AuditEntry, requestKey: Buffer): Buffer {
  const { fromAgent, toAgent, verdicts, cost } = entry
  const structural = JSON.stringify([
    [entry.event, entry.taskId, entry.handoffId, entry.parentHandoffId, entry.attempt, entry.epoch],
    [fromAgent.agentId, fromAgent.agentVersion, fromAgent.executionId],
    [toAgent.agentType, toAgent.agentVersion, entry.traceparent, entry.reason],
    verdicts && [verdicts.size, verdicts.signature, verdicts.schema, verdicts.completeness],
    verdicts && [verdicts.budget, ...safetyFields(verdicts.safety)],
    cost && [cost.spentMicroUSD, cost.remainingMicroUSD, cost.promptTokens, cost.completionTokens],
    entry.segments.map(({ kind, subject, subjects = [], text }) => [
      kind,
      subject,
      text.length,
      ...subjects,
    ]),
    [entry.act?.id, entry.act?.actor, entry.release],
    // Only where there is one of them: what was asked for before there were any has the digest that it had.
    ...(entry.model === undefined && entry.times === undefined ? [] : [[entry.model, entry.times]]),
    ...(entry.tenant === undefined && entry.sentBy === undefined
      ? []
      : [['of', entry.tenant, entry.sentBy]]),
    ...besideScanner(entry),
    ...(entry.joins === undefined ? [] : [entry.joins]),
    ...(entry.fanOut === undefined ? [] : fanOutFields(entry.fanOut)),
    ...(entry.stream === undefined ? [] : [[entry.stream.chunks, entry.stream.sha256]]),
    ...(entry.operation === undefined ? [] : operationFields(entry.operation)),
    ...(entry.act?.signed === undefined
      ? []
      : [[entry.act.signed.content, entry.act.signed.signature]]),
  ])
  const digest = createHmac('sha256', requestKey).update(structural)
  for (const { text } of entry.segments) digest.update(text)
  return digest.digest()
}

const fanOutFields = ({ onFailure, waitFor, branches }: NonNullable<AuditEntry['fanOut']>) => [
  [onFailure, waitFor],
  ...branches.map(({ handoffId, outcome, reason }) => [handoffId, outcome, reason]),
]

const operationFields = ({
  subject,
  right,
  address,
  details,
}: NonNullable<AuditEntry['operation']>) => [
  ['operation', subject, right, address],
  ...details.map(({ code, value, sha256 }) => [code, value, sha256]),
]

function besideScanner({ classifier, exemptions, policy }: AuditEntry) {
  const rest = [
    ...(exemptions === undefined ? [] : [['exemptions', ...exemptions]]),
    ...(policy === undefined ? [] : [['policy', policy]]),
  ]
  if (classifier === undefined) return rest
  const { name, version, decision, scanner, failure } = classifier
  return [['classifier', name, version, decision, scanner, failure], ...rest]
}

const safetyFields = (safety: NonNullable<AuditEntry['verdicts']>['safety']) => [
  safety.decision,
  safety.artefactId,
  safety.findings,
]
