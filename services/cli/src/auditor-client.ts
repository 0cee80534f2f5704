// Asking the auditor over HTTP for what leaves the log: evidence, policies, drills.
import { createHttpClient } from '@baton/http/client'
import type { HttpAnswer } from '@baton/http/client'
import { permanent } from '@baton/runtime'
import type { Context } from './context.ts'
import { requireInstance } from './instance/databases.ts'
import { openInstance } from './instance/instance.ts'

export interface AuditorClient {
  readonly url: string
  /** True for the instance of this home, whose databases can be read as well. */
  readonly isOwn: boolean
  get(path: string): Promise<HttpAnswer>
  /** `withTexts` also shows the second token. Answers that are no success throw the problem's own code. */
  post(path: string, body: object, options?: { readonly withTexts?: boolean }): Promise<HttpAnswer>
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
  const { settings } = context
  if (settings.BATON_AUDIT_URL !== undefined) {
    const evidence = settings.BATON_AUDIT_EVIDENCE_TOKEN
    if (evidence === undefined) throw TOKEN_NEEDED
    const tokens = { evidence, payload: settings.BATON_AUDIT_PAYLOAD_TOKEN }
    return work(clientOf(settings.BATON_AUDIT_URL, tokens, false))
  }
  await requireInstance(context)
  const instance = await openInstance(context, { queue: 'any' })
  try {
    const { evidenceToken: evidence, payloadToken: payload } = instance.databases.keys.evidence
    const tokens = { evidence, payload }
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
  const { ask } = createHttpClient({
    url,
    name: `the auditor at ${new URL(url).origin}`,
    token: tokens.evidence,
    timeoutMs: TIMEOUT_MS,
    unavailable: {
      code: 'BATON_AUDIT_UNAVAILABLE',
      fix: 'Check BATON_AUDIT_URL and that the auditor runs; repeating the command is safe.',
    },
  })
  return {
    url,
    isOwn,
    get: (path) => ask(path),
    post: async (path, body, { withTexts = false } = {}) =>
      ask(path, { body, headers: withTexts ? textHeaders(tokens) : {} }),
  }
}

function textHeaders({ payload }: Tokens): Record<string, string> {
  if (payload !== undefined) return { 'baton-payload-authorization': `Bearer ${payload}` }
  throw permanent('BATON_TOKEN_MISSING', 'no token that may show what was said', {
    fix: 'Set BATON_AUDIT_PAYLOAD_TOKEN, or leave out --with-payloads.',
  })
}
