// Which version of the format a bundle needs: the lowest that says all of it, so that older verifiers read what they can.
import { decodeUtf8 } from '../bytes.ts'
import type { RecordBody } from '../record.ts'
import {
  BUNDLE_FORMAT,
  BUNDLE_FORMAT_OF_RESULTS,
  BUNDLE_FORMAT_WITH_ENDS,
  BUNDLE_FORMAT_WITH_HANDOVERS,
} from './format.ts'
import type { BundleParts } from './write.ts'

export function formatOf({ records, erasures, ends, handovers }: BundleParts): string {
  if (handovers.length > 0) return BUNDLE_FORMAT_WITH_HANDOVERS
  const bodies = [...records, ...erasures.map(({ body }) => body)]
  if (bodies.some(isOfResults)) return BUNDLE_FORMAT_OF_RESULTS
  return ends === null ? BUNDLE_FORMAT : BUNDLE_FORMAT_WITH_ENDS
}

/** Whether a record has what version 1.2 of its schema added. */
function isOfResults(bytes: Uint8Array): boolean {
  const body = JSON.parse(decodeUtf8(bytes) ?? '{}') as RecordBody
  const { tenant, sentBy, act, classifier, exemptions, policy, model, times, joins } = body
  const { fanOut, stream, operation } = body
  const ofDecisions = [tenant, sentBy, act?.signed, classifier, exemptions, policy, joins]
  const added = [...ofDecisions, model, times, fanOut, stream, operation]
  if (body.event === 'SEND_REFUSED' || added.some((one) => one !== undefined)) return true
  const { payload } = body
  // A dishonest log may have sealed anything.
  if (!Array.isArray(payload)) return false
  return (payload as RecordBody['payload']).some(
    ({ kind, zstdBytes }) => kind === 'result' || kind === 'task-result' || zstdBytes !== undefined,
  )
}
