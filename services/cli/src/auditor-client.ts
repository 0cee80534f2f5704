// Asking the auditor over HTTP: for what stands where, for what leaves the log, and for what must stay.
import { createHttpClient } from '@baton/http/client'
import type { HttpClient } from '@baton/http/client'
import { permanent, readTls } from '@baton/runtime'
import type { Tls } from '@baton/runtime'
import type { CliSettings, Context } from './context.ts'
import type { Deciding } from './decide-signed.ts'
import { readPerson } from './instance/secrets.ts'
import type { Person, Secrets } from './instance/secrets.ts'

/** What somebody wants from the auditor, each with a token of its own. */
export type Permission = 'read' | 'evidence' | 'payload' | 'hold'

export interface AuditorClient extends Pick<HttpClient, 'ask' | 'json'> {
  /** The header that also shows the second token, which lets out what was said. Throws where there is none. */
  withTexts(): Readonly<Record<string, string>>
  /** See `decideSigned`. */
  decide<Answer>(deciding: Deciding): Promise<Answer>
}

/**
 * Runs `work` with a permission against the auditor that BATON_AUDIT_URL names; otherwise against the
 * instance of this home, which is started where it does not run. Throws BATON_INSTANCE_MISSING where
 * there is none, BATON_TOKEN_MISSING without a token.
 */
export async function withAuditor<Result>(
  context: Context,
  permission: Permission,
  work: (client: AuditorClient) => Promise<Result>,
): Promise<Result> {
  const { settings } = context
  const url = settings.BATON_AUDIT_URL
  if (url !== undefined)
    return work(
      clientOf({ url, permission, tokens: givenTokens(settings), tls: readTls(settings) }),
    )
  const { requireInstance } = await import('./instance/databases.ts')
  const { openInstance } = await import('./instance/instance.ts')
  await requireInstance(context)
  const person = readPerson(context.actAs ?? 'operator')
  const instance = await openInstance(context, { queue: 'any' })
  const { keys } = instance.databases
  try {
    const client = clientOf({
      url: instance.auditorUrl,
      permission,
      tokens: ownTokens(keys, person),
      tls: readTls(settings),
    })
    return await Promise.race([work(client), instance.failed])
  } finally {
    await instance.stop()
  }
}

/** With the key that whoever sits here signs with. */
type Tokens = Readonly<Record<Permission | 'personKey', string | undefined>>

const givenTokens = (settings: CliSettings): Tokens => ({
  read: settings.BATON_AUDIT_READ_TOKEN,
  evidence: settings.BATON_AUDIT_EVIDENCE_TOKEN,
  payload: settings.BATON_AUDIT_PAYLOAD_TOKEN,
  hold: settings.BATON_AUDIT_HOLD_TOKEN,
  personKey: settings.BATON_PERSON_KEY,
})

const ownTokens = (
  { development, evidence, archive, signing }: Secrets,
  person: Person,
): Tokens => ({
  read: development.BATON_AUDIT_READ_TOKEN,
  evidence: evidence.evidenceToken,
  payload: evidence.payloadToken,
  hold: archive.holdToken,
  personKey: signing[person],
})

const TIMEOUT_MS = 60_000

interface Asking {
  readonly url: string
  readonly permission: Permission
  readonly tokens: Tokens
  readonly tls: Tls
}

function clientOf({ url, permission, tokens, tls }: Asking): AuditorClient {
  const { ask, json } = createHttpClient({
    url,
    name: `the auditor at ${new URL(url).origin}`,
    tls: { tls, setting: 'BATON_AUDIT_URL' },
    token: tokens[permission] ?? tokenMissing(permission),
    timeoutMs: TIMEOUT_MS,
    unavailable: {
      code: 'BATON_AUDIT_UNAVAILABLE',
      fix: 'Check BATON_AUDIT_URL and that the auditor runs; repeating the command is safe.',
    },
  })
  return {
    ask,
    json,
    async decide(deciding) {
      const { decideSigned } = await import('./decide-signed.ts')
      return decideSigned({ json, personKey: tokens.personKey }, deciding)
    },
    withTexts: () => ({
      'baton-payload-authorization': `Bearer ${tokens.payload ?? tokenMissing('payload')}`,
    }),
  }
}

function tokenMissing(permission: Permission): never {
  const setting = `BATON_AUDIT_${permission.toUpperCase()}_TOKEN`
  throw permanent('BATON_TOKEN_MISSING', `no ${permission} token for the auditor`, {
    fix: `Set ${setting} to the auditor’s own${permission === 'payload' ? ', or leave out --with-payloads' : ''}.`,
  })
}
