// What follows the records of a verification, to compare a table with them that is made from them.
import type { Finding } from '@baton/ledger'
import type { ChainHead } from '../append/heads.ts'
import type { ScannedRecord } from './scan-chain.ts'

/** Takes every record of every chain in order; chains one after the other. */
export interface StateCheck {
  next(head: ChainHead, record: ScannedRecord): readonly Finding[]
  finish(): Promise<readonly Finding[]>
}

export const NO_FINDINGS: readonly Finding[] = []

/** A finding about one record, or about a table where no record is to be named. */
export const stateFinding = (
  place: { readonly origin: string; readonly seq: number } | undefined,
  message: string,
): Finding => ({
  origin: place?.origin ?? 'schema audit',
  seq: place?.seq ?? null,
  rule: 'STATE',
  message,
})
