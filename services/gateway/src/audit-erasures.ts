// The auditor's erasure routes as the gateway calls them, with a token of its own; refusals keep their code.
import type { AuditErasures as AuditSide, ErasureView } from '@baton/engine'
import { createHttpClient, HttpRefusal } from '@baton/http/client'
import { formatSigned } from '@baton/ledger'
import type { DecisionSignature } from '@baton/ledger'
import { NO_TLS, permanent, transient } from '@baton/runtime'
import type { Tls } from '@baton/runtime'
import { ProblemError } from '@baton/http/server'

export interface AuditErasuresOptions {
  readonly url: string
  /** Undefined where nobody can be erased through this gateway. */
  readonly token: string | undefined
  readonly tls?: Tls | undefined
}

interface PageAsked {
  readonly state?: string | undefined
  readonly tenant?: string | undefined
  readonly cursor?: string | null | undefined
  readonly limit: number
}

interface ErasuresPage {
  readonly erasures: readonly (ErasureView & { readonly proven: boolean })[]
  readonly nextCursor: string | null
  readonly total: number
  readonly totalIsExact: boolean
}

export interface AuditErasures extends AuditSide {
  /** Erasures, the newest first, as far as they were asked for by people of a tenant. */
  page(asked: PageAsked): Promise<ErasuresPage>
  /** Records in which a person has segments, without text. */
  search(person: {
    readonly subject: string
    readonly tenant: string | undefined
  }): Promise<{ readonly records: readonly object[] }>
}

/** Erasures that one answer of the auditor holds at most. */
const PAGE_MAX = 1_000

// An erasure runs while the caller waits.
const TIMEOUT_MS = 60_000

export function createAuditErasures({
  url,
  token,
  tls = NO_TLS,
}: AuditErasuresOptions): AuditErasures {
  const { json } = createHttpClient({
    url,
    name: 'the auditor',
    token,
    tls: { tls, setting: 'BATON_AUDIT_URL' },
    timeoutMs: TIMEOUT_MS,
    unavailable: { code: 'BATON_AUDIT_UNAVAILABLE' },
  })
  const ask = async <Answer>(path: string, body?: object, headers = {}): Promise<Answer> => {
    if (token === undefined) throw ERASURE_OFF
    return json<Answer>(path, body === undefined ? {} : { body, headers }).catch(passOn)
  }
  const page = (asked: PageAsked): Promise<ErasuresPage> => {
    const query = Object.entries(asked).flatMap(([name, value]) =>
      value === undefined || value === null ? [] : [[name, String(value)]],
    )
    return ask(`/v1/erasures?${new URLSearchParams(query).toString()}`)
  }
  return {
    plan: ({ signed, ...plan }) => ask('/v1/erasures', plan, signedHeader(signed)),
    confirm: ({ id, signed, ...rest }) =>
      ask(`/v1/erasures/${id}/confirm`, rest, signedHeader(signed)),
    complete: (id, erased) => ask(`/v1/erasures/${id}/complete`, erased),
    page,
    async *list(states) {
      for (const state of states) {
        let cursor: string | null | undefined
        do {
          const { erasures, nextCursor } = await page({ state, cursor, limit: PAGE_MAX })
          yield* erasures.filter(({ proven }) => proven)
          cursor = nextCursor
        } while (cursor !== null)
      }
    },
    replay: () => ask('/v1/erasures/replay', {}),
    find: (id) => ask(`/v1/erasures/${id}`),
    search: (person) => ask('/v1/subjects/search', person),
  }
}

const signedHeader = (signed: DecisionSignature | undefined) =>
  signed === undefined ? {} : { 'baton-decision': formatSigned(signed) }

const ERASURE_OFF = new ProblemError({
  status: 503,
  code: 'BATON_ERASURE_OFF',
  detail: 'this gateway has no token for erasures',
  fix: 'Set BATON_AUDIT_ERASE_TOKEN for the gateway and the auditor.',
})

function passOn(error: unknown): never {
  if (!(error instanceof HttpRefusal)) throw error
  const { status, code, message: detail, fix = '' } = error
  if (status === 401 || (status === 403 && code === 'BATON_TOKEN_REFUSED')) {
    throw permanent('BATON_AUDIT_TOKEN_REFUSED', 'the auditor refused the erase token', {
      fix: 'Set BATON_AUDIT_ERASE_TOKEN to the auditor’s own.',
    })
  }
  if (code === 'BATON_AUDIT_UNAVAILABLE' || status === 500)
    throw transient('BATON_AUDIT_UNAVAILABLE', 'the auditor did not answer', { cause: error })
  throw new ProblemError({ status, code, detail, fix })
}
