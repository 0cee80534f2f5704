// What the auditor’s record says of its settings: whose decisions count, which keys it holds and believes, who witnesses, what is waived.
import { readWitnessUrls } from '@baton/audit'
import type { SubjectVault } from '@baton/audit'
import { batchKeyId, createBatchSigner, facts, peopleFacts, waiverFacts } from '@baton/ledger'
import type { BatchSigner, OperationDetail, People } from '@baton/ledger'
import { readRegularFile } from '@baton/runtime'
import type { KeyObject } from 'node:crypto'
import type { AuditorSettings } from './core.ts'

export interface BegunParts {
  readonly settings: AuditorSettings
  readonly people: People
  readonly vault: SubjectVault
  readonly signer: BatchSigner
  readonly batchKeys: ReadonlyMap<string, KeyObject>
  readonly sealKey: KeyObject | undefined
}

/** By the key: the code of its facts. With `EARLIER_` in front, it is that of the keys that it follows and that still count. */
export const KEY_CODES = {
  batch: 'BATCH_KEY',
  wrapping: 'WRAPPING_KEY',
  lookup: 'LOOKUP_KEY',
  evidence: 'EVIDENCE_KEY',
  witness: 'WITNESS_KEY',
} as const

/** So that all of them fit into one record. */
const SINGLY_MAX = 8

/** Reads the policy anew, as it may change while the auditor runs. Throws BATON_POLICY_INVALID, and where the file cannot be read. */
export async function describeSettings(parts: BegunParts): Promise<readonly OperationDetail[]> {
  const { settings, people, vault, signer, batchKeys, sealKey } = parts
  const { wrapping, lookups } = vault
  const exporter = settings.BATON_EVIDENCE_SIGNING_KEY
  const keys = {
    batch: { current: [signer.keyId], earlier: [...batchKeys.keys()].filter(isNot(signer.keyId)) },
    wrapping: ringOf(wrapping),
    lookup: ringOf(lookups),
    evidence: {
      current: exporter === undefined ? [] : [createBatchSigner(exporter).keyId],
      earlier: [],
    },
    ...(await witnessesOf(settings.BATON_SEAL_POLICY_FILE)),
  }
  return [
    ...peopleFacts(people),
    ...Object.entries(keys).flatMap(([key, { current, earlier }]) => [
      ...facts(KEY_CODES[key as keyof typeof KEY_CODES], current, SINGLY_MAX),
      ...facts(`EARLIER_${KEY_CODES[key as keyof typeof KEY_CODES]}`, earlier, SINGLY_MAX),
    ]),
    ...facts('SEAL_KEY', sealKey === undefined ? [] : [batchKeyId(sealKey)]),
    ...given('COLD_STORE', settings.BATON_COLD_S3_BUCKET ?? settings.BATON_COLD_FOLDER),
    ...given('ISSUERS', settings.BATON_ISSUERS),
    ...waiverFacts(settings),
  ]
}

const isNot = (id: string) => (other: string) => other !== id

const ringOf = ({ current, earlier }: SubjectVault['wrapping'] | SubjectVault['lookups']) => ({
  current: [current.id],
  earlier: earlier.map(({ id }) => id),
})

const given = (code: string, text: string | undefined): readonly OperationDetail[] =>
  facts(code, text === undefined ? [] : [text])

/** Those of the policy; an installation without one has none. */
async function witnessesOf(policyFile: string | undefined) {
  if (policyFile === undefined) return { witness: { current: [], earlier: [] } }
  const { policy } = readWitnessUrls(await readRegularFile(policyFile))
  const current = [...policy.witnesses.values()].map(({ name, keyId }) => `${name}+${keyId}`)
  return { witness: { current: current.toSorted(), earlier: [] } }
}
