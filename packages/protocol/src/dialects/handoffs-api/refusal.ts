// Why a request of the Handoffs API is refused, in the words that its clients know.

/** What is wrong, in `error`; where, and how to mend it. */
export interface ApiRefusal {
  readonly error: string
  readonly code: RefusalCode
  readonly fix: string
  readonly pointer?: string
}

export type RefusalCode =
  | 'BATON_REQUEST_INVALID'
  | 'BATON_SELF_HANDOFF'
  | 'BATON_PROFILE_UNKNOWN'
  | 'BATON_PROFILE_POLICY'
  | 'BATON_PARENT_UNKNOWN'
  | 'BATON_CHAIN_DEPTH'

export type Answer<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly refusal: ApiRefusal }

export const accepted = <Value>(value: Value): Answer<Value> => ({ ok: true, value })

export const refused = (
  refusal: ApiRefusal,
): { readonly ok: false; readonly refusal: ApiRefusal } => ({
  ok: false,
  refusal,
})

/** A member of the body that is missing or cannot be taken. */
export const refusedMember = (name: string, error: string, fix: string) =>
  refused({ error, code: 'BATON_REQUEST_INVALID', fix, pointer: name === '' ? '' : `/${name}` })
