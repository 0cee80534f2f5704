// Signs what a person decides at this command line, and nothing else: whatever asks for a signature must ask for exactly that.
import { HttpRefusal } from '@baton/http/client'
import type { HttpClient } from '@baton/http/client'
import { formatSigned, parseNeeded, signDecision } from '@baton/ledger'
import type { Decision } from '@baton/ledger'
import { permanent } from '@baton/runtime'
import { readPersonKey } from './instance/person-key.ts'

/** What is to be signed; who signs it, the other side knows by the key or token it was given. */
export type Meant = Omit<Decision, 'person'>

interface Asking extends Pick<HttpClient, 'json'> {
  /** Of whoever sits here. */
  readonly personKey: string | undefined
}

/** What is asked for, and what it comes to. */
export interface Deciding {
  readonly path: string
  readonly method?: 'POST' | 'PUT'
  readonly body: object
  readonly meant: Meant
}

/**
 * Asks without a signature first: what was decided before is answered at once. Throws BATON_DECISION_DIFFERS,
 * BATON_PERSON_KEY_MISSING, and what the other side refuses.
 */
export async function decideSigned<Answer>(
  { json, personKey }: Asking,
  { path, method = 'POST', body, meant }: Deciding,
): Promise<Answer> {
  try {
    return await json<Answer>(path, { method, body })
  } catch (error) {
    const needed = neededBy(error)
    if (needed === undefined) throw error
    const headers = { 'baton-decision': signNeeded(personKey, { needed, meant }) }
    return json<Answer>(path, { method, body, headers })
  }
}

interface Needed {
  /** What the other side asks for. */
  readonly needed: Decision
  readonly meant: Meant
}

/** What stands in the header Baton-Decision. Throws BATON_DECISION_DIFFERS and BATON_PERSON_KEY_MISSING. */
export function signNeeded(personKey: string | undefined, { needed, meant }: Needed): string {
  if (!isSame(needed, meant)) throw DIFFERS
  if (personKey === undefined) throw KEY_MISSING
  return formatSigned(signDecision(needed, readPersonKey(personKey, needed.person), new Date()))
}

function neededBy(error: unknown): Decision | undefined {
  const header = error instanceof HttpRefusal ? error.headers['baton-decision-needed'] : undefined
  return header === undefined ? undefined : parseNeeded(String(header))
}

const isSame = (needed: Decision, meant: Meant): boolean =>
  needed.event === meant.event &&
  needed.taskId === meant.taskId &&
  needed.handoffId === meant.handoffId &&
  needed.decided === meant.decided

const DIFFERS = permanent(
  'BATON_DECISION_DIFFERS',
  'something else is to be signed than what was shown here',
  {
    fix: 'Read it again, it may have changed meanwhile. If it says so again, tell whoever runs the gateway.',
  },
)

export const KEY_MISSING = permanent(
  'BATON_PERSON_KEY_MISSING',
  'what people decide takes their own signature, and there is no key to sign with',
  { fix: 'Set BATON_PERSON_KEY to your private key; `baton people key` makes one.' },
)
