// Asking the auditor over HTTP for what leaves the log: evidence, policies, drills.
import { permanent, transient } from '@baton/runtime'
import type { ErrorCode } from '@baton/runtime'
import type { Context } from './context.ts'
import { requireInstance } from './instance/databases.ts'
import { openInstance } from './instance/instance.ts'
import { ensureEvidenceKeys } from './instance/evidence-keys.ts'

export interface AuditorClient {
  readonly url: string
  /** True for the instance of this home, whose databases can be read as well. */
  readonly isOwn: boolean
  get(path: string): Promise<Response>
  /** `withTexts` also shows the second token. Answers that are no success throw the problem's own code. */
  post(path: string, body: object, options?: { readonly withTexts?: boolean }): Promise<Response>
}

interface Tokens {
  readonly evidence: string
  readonly payload: string | undefined
}

/**
 * Runs `work` against the auditor that BATON_AUDIT_URL names, with BATON_AUDIT_EVIDENCE_TOKEN;
 * otherwise against the instance of this home, which is started where it does not run. Throws
 * BATON_INSTANCE_MISSING where there is none.
 */
export async function withAuditor<Result>(
  context: Context,
  work: (client: AuditorClient) => Promise<Result>,
): Promise<Result> {
  const { settings, home } = context
  if (settings.BATON_AUDIT_URL !== undefined) {
    const evidence = settings.BATON_AUDIT_EVIDENCE_TOKEN
    if (evidence === undefined) throw TOKEN_NEEDED
    const tokens = { evidence, payload: settings.BATON_AUDIT_PAYLOAD_TOKEN }
    return work(clientOf(settings.BATON_AUDIT_URL, tokens, false))
  }
  await requireInstance(context)
  const instance = await openInstance(context, { queue: 'any' })
  try {
    const keys = await ensureEvidenceKeys(home)
    const tokens = { evidence: keys.evidenceToken, payload: keys.payloadToken }
    const client = clientOf(instance.auditorUrl, tokens, true)
    return await Promise.race([work(client), instance.failed])
  } finally {
    await instance.stop()
  }
}

const TOKEN_NEEDED = permanent(
  'BATON_TOKEN_MISSING',
  'no token for evidence from the auditor at BATON_AUDIT_URL',
  { fix: 'Set BATON_AUDIT_EVIDENCE_TOKEN to the auditor’s own.' },
)

const TIMEOUT_MS = 60_000

function clientOf(url: string, tokens: Tokens, isOwn: boolean): AuditorClient {
  const ask = async (path: string, init: RequestInit): Promise<Response> => {
    const response = await reach(new URL(path, url), {
      ...init,
      headers: { ...init.headers, authorization: `Bearer ${tokens.evidence}` },
    })
    if (response.ok) return response
    throw await refusal(response)
  }
  return {
    url,
    isOwn,
    get: (path) => ask(path, {}),
    post(path, body, { withTexts = false } = {}) {
      const second = withTexts ? textHeaders(tokens) : {}
      const headers = { 'content-type': 'application/json', ...second }
      return ask(path, { method: 'POST', body: JSON.stringify(body), headers })
    },
  }
}

function textHeaders({ payload }: Tokens): Record<string, string> {
  if (payload !== undefined) return { 'baton-payload-authorization': `Bearer ${payload}` }
  throw permanent('BATON_TOKEN_MISSING', 'no token that may show what was said', {
    fix: 'Set BATON_AUDIT_PAYLOAD_TOKEN, or leave out --with-payloads.',
  })
}

async function reach(url: URL, init: RequestInit): Promise<Response> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    return await fetch(url, { ...init, signal, redirect: 'error' })
  } catch (cause) {
    throw transient('BATON_AUDIT_UNAVAILABLE', `the auditor at ${url.origin} did not answer`, {
      cause,
      fix: 'Check BATON_AUDIT_URL and that the auditor runs; repeating the command is safe.',
    })
  }
}

const CODE = /^BATON_[A-Z0-9_]+$/

async function refusal(response: Response): Promise<Error> {
  const problem: unknown = await response.json().catch(() => undefined)
  const { code, detail, fix } = (problem ?? {}) as Readonly<Record<string, unknown>>
  const known = typeof code === 'string' && CODE.test(code) ? (code as ErrorCode) : undefined
  const kind = response.status >= 500 ? transient : permanent
  return kind(
    known ?? 'BATON_AUDIT_UNAVAILABLE',
    typeof detail === 'string' ? detail : `the auditor answered ${response.status}`,
    typeof fix === 'string' ? { fix } : {},
  )
}
