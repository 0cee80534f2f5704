// The one error the ledger throws: a stable code and a JSON pointer, never the offending text.

export type LedgerErrorCode =
  | 'BATON_CANONICAL_INVALID'
  | 'BATON_ORIGIN_INVALID'
  | 'BATON_RECORD_TOO_LARGE'
  | 'BATON_KEY_INVALID'
  | 'BATON_PEOPLE_INVALID'
  | 'BATON_NOTE_INVALID'
  | 'BATON_OPERATION_UNRECORDABLE'
  | 'BATON_TREE_STATE_INVALID'
  | 'BATON_TILE_INVALID'

/** Thrown for input that no record can be made of. `pointer` is the RFC 6901 place of the fault. */
export class LedgerError extends Error {
  readonly code: LedgerErrorCode
  readonly pointer: string

  constructor(code: LedgerErrorCode, message: string, pointer = '') {
    super(message)
    this.name = 'LedgerError'
    this.code = code
    this.pointer = pointer
  }
}
