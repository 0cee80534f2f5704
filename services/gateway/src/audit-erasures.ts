// The auditor's erasure routes as the gateway calls them, with a token of its own; refusals keep their code.
import type { ErasurePorts, ErasureView } from '@baton/engine'
import { permanent, transient } from '@baton/runtime'
import type { ErrorCode } from '@baton/runtime'
import { ProblemError } from './problem.ts'

export interface AuditErasuresOptions {
  readonly url: string
  /** Undefined where nobody can be erased through this gateway. */
  readonly token: string | undefined
}

export interface AuditErasures {
  readonly ports: ErasurePorts['audit']
  find(id: string): Promise<ErasureView>
  /** Records in which a person has segments, without text. */
  search(subject: string): Promise<{ readonly records: readonly object[] }>
}

// An erasure runs while the caller waits.
const TIMEOUT_MS = 60_000

export function createAuditErasures({ url, token }: AuditErasuresOptions): AuditErasures {
  async function ask<Answer>(path: string, body?: object): Promise<Answer> {
    if (token === undefined) throw ERASURE_OFF
    const response = await reach(new URL(path, url), {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answer = (await response.json().catch(() => ({}))) as object
    if (response.ok) return answer as Answer
    throw refusal(response.status, answer)
  }
  return {
    ports: {
      plan: (plan) => ask('/v1/erasures', plan),
      confirm: ({ id, ...rest }) => ask(`/v1/erasures/${id}/confirm`, rest),
      complete: (id, stores) => ask(`/v1/erasures/${id}/complete`, { stores }),
      list: async () => (await ask<{ erasures: readonly ErasureView[] }>('/v1/erasures')).erasures,
      replay: () => ask('/v1/erasures/replay', {}),
    },
    find: (id) => ask(`/v1/erasures/${id}`),
    search: (subject) => ask('/v1/subjects/search', { subject }),
  }
}

async function reach(url: URL, init: RequestInit): Promise<Response> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    return await fetch(url, { ...init, signal, redirect: 'error' })
  } catch (cause) {
    throw unavailable(cause)
  }
}

const unavailable = (cause?: unknown) =>
  transient('BATON_AUDIT_UNAVAILABLE', 'the auditor did not answer', { cause })

const ERASURE_OFF = new ProblemError({
  status: 503,
  code: 'BATON_ERASURE_OFF',
  detail: 'This gateway has no token for erasures',
  fix: 'Set BATON_AUDIT_ERASE_TOKEN for the gateway and the auditor.',
})

interface Problem {
  readonly code?: string
  readonly detail?: string
  readonly fix?: string
}

function refusal(status: number, { code, detail = '', fix = '' }: Problem): Error {
  if (status === 401 || (status === 403 && code === 'BATON_TOKEN_REFUSED')) {
    return permanent('BATON_AUDIT_TOKEN_REFUSED', 'the auditor refused the erase token', {
      fix: 'Set BATON_AUDIT_ERASE_TOKEN to the auditor’s own.',
    })
  }
  if (code === undefined || status === 500) return unavailable()
  return new ProblemError({ status, code: code as ErrorCode, detail, fix })
}
