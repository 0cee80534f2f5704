// The webhooks that alerts leave by, from the file that the settings name. A secret never stands in that file.
import { dirname, resolve } from 'node:path'
import { createDocumentCheck, firstProblem } from '@baton/protocol/document-check'
import { closing, permanent, readNamedFile, readVariable } from '@baton/runtime'
import type { BatonError, Logger, Service, Tls } from '@baton/runtime'
import { createPool } from '@baton/store'
import type { Metrics } from '@baton/telemetry'
import { createAlertWebhooks } from './alert-webhooks.ts'
import type { AlertWebhook, AlertWebhooks } from './alert-webhooks.ts'

interface OpenParts {
  /** The file; nobody is told anything where there is none. */
  readonly path: string | undefined
  readonly databaseUrl: string
  readonly tls?: Tls | undefined
  readonly metrics: Metrics
  readonly logger: Logger
}

const CONNECTIONS_MAX = 2

/** What a process that sweeps runs beside it, on connections of its own. Throws as `loadAlertWebhooks`. */
export function openAlertWebhooks(
  { path, databaseUrl, tls, metrics, logger }: OpenParts,
  environment: Environment,
): readonly Service[] {
  if (path === undefined) return []
  const to = loadAlertWebhooks(path, environment)
  const db = createPool({
    url: databaseUrl,
    applicationName: 'baton-alerts',
    connectionsMax: CONNECTIONS_MAX,
  })
  const webhooks = createAlertWebhooks({ db, to, tls, metrics, logger })
  return [closing('connections of alert webhooks', () => db.end()), webhooks]
}

type Entry = Omit<AlertWebhook, 'secrets'> &
  ({ readonly secretEnv: string } | { readonly secretFile: string })

interface File {
  readonly webhooks: readonly Entry[]
  readonly runbooks: string
}

const WEBHOOK = {
  type: 'object',
  properties: {
    name: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' },
    url: { type: 'string', maxLength: 2_048 },
    secretEnv: { type: 'string', pattern: '^[A-Z][A-Z0-9_]{0,127}$' },
    secretFile: { type: 'string', minLength: 1, maxLength: 4_096 },
    allowPrivate: { type: 'boolean' },
  },
  required: ['name', 'url'],
  oneOf: [{ required: ['secretEnv'] }, { required: ['secretFile'] }],
  additionalProperties: false,
}

const check = createDocumentCheck<File>({
  type: 'object',
  properties: {
    webhooks: { type: 'array', items: WEBHOOK, minItems: 1, maxItems: 10 },
    runbooks: { type: 'string', minLength: 1, maxLength: 2_048, default: 'infra/runbooks' },
  },
  required: ['webhooks'],
  additionalProperties: false,
})

type Environment = Readonly<Record<string, string | undefined>>

/** Throws BATON_ALERT_WEBHOOKS_INVALID, which names the first wrong place by its JSON pointer and never quotes a secret. */
export function loadAlertWebhooks(path: string, environment: Environment): AlertWebhooks {
  const read = check(readFile(path, path))
  if (!read.ok) throw invalid(path, firstProblem(read.details))
  const { webhooks: entries, runbooks } = read.document
  const names = entries.map(({ name }) => name)
  const again = names.findIndex((name, index) => names.indexOf(name) < index)
  if (again >= 0) throw invalid(path, `/webhooks/${again}/name: the name stands there twice`)
  const webhooks = entries.map((entry, index) => {
    const { secretEnv, secretFile, ...webhook } = entry as Entry & Partial<Secret>
    const text =
      secretEnv === undefined
        ? readFile(path, resolve(dirname(path), secretFile ?? '')).toString()
        : (readVariable(environment, secretEnv) ?? '')
    const secrets = text.split(/[\s,]+/).filter((one) => one !== '')
    if (secrets.length === 0) {
      const missing =
        secretEnv === undefined
          ? 'secretFile: the file is empty'
          : `secretEnv: ${secretEnv} is not set`
      throw invalid(path, `/webhooks/${index}/${missing}`)
    }
    return { ...webhook, secrets }
  })
  return { webhooks, runbooks }
}

interface Secret {
  readonly secretEnv: string
  readonly secretFile: string
}

const readFile = (settings: string, path: string): Buffer =>
  readNamedFile(path, (problem) => invalid(settings, `${path} ${problem}`))

const invalid = (path: string, problem: string): BatonError =>
  permanent('BATON_ALERT_WEBHOOKS_INVALID', `BATON_ALERT_WEBHOOKS, ${path}: ${problem}`, {
    fix: 'Correct the file; infra/alerts-as-webhooks.md shows one.',
  })
