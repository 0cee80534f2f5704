// A classifier that is asked over HTTP: so many calls at once, each within its time, none to wherever a redirection points, answers of
// bounded length that are believed only where they have the form asked for, and breakers that keep calls away while it fails.
import { createHttpClient, HttpRefusal } from '@baton/http/client'
import { NO_TLS, permanent, transient } from '@baton/runtime'
import type { Tls } from '@baton/runtime'
import type { ShownText } from '@baton/safety'
import { createClassifierBreakers } from './classifier-breakers.ts'
import type { Classifier, Opinion, Question } from './classifier.ts'

export interface HttpClassifierOptions {
  /** What questions are posted to. */
  readonly url: string
  /** As records call it. */
  readonly name: string
  /** Sent as a bearer token. */
  readonly token?: string | undefined
  /** For one answer, the wait for a free connection included. */
  readonly timeoutMs: number
  /** It is the installation's own, so that it may see what must stay there. */
  readonly seesAll?: boolean
  /** Who vouches for it, beside the authorities of the machine; nothing but the token is shown to it. */
  readonly tls?: Tls | undefined
  /** How long a breaker stays open; 30 s by default. */
  readonly resetMs?: number
}

/** Calls under way at once; others wait for them within their time. */
const CALLS_MAX = 16
/** Of these for one tenant, so that those that hang leave others some. */
const CALLS_OF_TENANT_MAX = 8
const ANSWER_BYTES_MAX = 65_536
const RESET_MS = 30_000

/** Throws BATON_PLAINTEXT_REFUSED. Connects nothing until it is first asked. */
export function createHttpClassifier(options: HttpClassifierOptions): Classifier {
  const { url, name, token, timeoutMs, tls = NO_TLS, resetMs = RESET_MS } = options
  const { pathname, search } = new URL(url)
  const client = createHttpClient({
    url,
    name: 'the classifier',
    token,
    timeoutMs,
    connectionsMax: CALLS_MAX,
    answerBytesMax: ANSWER_BYTES_MAX,
    tls: { tls, setting: 'BATON_CLASSIFIER_URL', whose: 'services' },
    unavailable: { code: 'BATON_CLASSIFIER_UNAVAILABLE' },
  })

  async function ask(question: Question, signal: AbortSignal): Promise<Opinion> {
    const body = bodyOf(question)
    const { bytes } = await client.ask(`${pathname}${search}`, { body, signal }).catch(asOutage)
    return read(bytes, question.texts)
  }

  const breakers = createClassifierBreakers(ask, {
    timeoutMs,
    resetMs,
    callsOfTenantMax: CALLS_OF_TENANT_MAX,
  })
  return {
    name,
    seesAll: options.seesAll ?? false,
    classify: (question, tenant) => breakers.fire(tenant, question),
    onPaused: (listener) => breakers.onPaused(listener),
    close() {
      breakers.close()
      client.close()
    },
  }
}

const SCHEMA = 'baton/classify/1'

function bodyOf({ texts, verdict }: Question): string {
  const { decision, score, rulesetVersion, findings } = verdict
  // Where others stand may name somebody: keys of personal data are pointers too.
  const shown = new Set(['', ...texts.map(({ pointer }) => pointer)])
  const told = findings.filter(({ jsonPointer }) => shown.has(jsonPointer))
  const found = told.map(({ ruleId, category, jsonPointer, view, span, weight }) => ({
    rule: ruleId,
    category,
    pointer: jsonPointer,
    view,
    span,
    weight,
  }))
  const scanner = { decision, score, rulesetVersion, findings: found }
  return JSON.stringify({ schema: SCHEMA, texts, scanner })
}

/** What is said of one question, which whoever sends may have written so: no reason to keep others away. */
const OF_ONE_QUESTION: ReadonlySet<number> = new Set([400, 413, 422])

// Any other refusal would be one of every question: an outage too, so that the breakers of tenants take it for one.
function asOutage(cause: unknown): never {
  if (isTimeout(cause)) throw transient('BATON_TIMEOUT', 'the classifier did not answer in time')
  if (cause instanceof HttpRefusal && OF_ONE_QUESTION.has(cause.status))
    throw permanent('BATON_CLASSIFIER_UNAVAILABLE', 'the classifier refused a question', { cause })
  throw transient('BATON_CLASSIFIER_UNAVAILABLE', 'the classifier gave no answer', { cause })
}

function isTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return error.name === 'TimeoutError' || isTimeout(error.cause)
}

const VERSION = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$/
const DECISIONS: ReadonlySet<unknown> = new Set(['allow', 'flag', 'reject'])

/** Throws BATON_CLASSIFIER_INVALID. Nothing of an answer is kept but what the form below allows. */
function read(bytes: Uint8Array, texts: readonly ShownText[]): Opinion {
  const { version, verdict, pointer } = membersOf(bytes)
  if (typeof version !== 'string' || !VERSION.test(version) || !DECISIONS.has(verdict))
    throw INVALID
  const decision = verdict as Opinion['decision']
  if (pointer === undefined || pointer === null) return { version, decision }
  const at = texts.find((text) => text.pointer === pointer)
  if (at === undefined) throw INVALID
  return { version, decision, at }
}

function membersOf(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const answer: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    if (typeof answer === 'object' && answer !== null) return { ...answer }
  } catch {
    // What is no JSON is as little an answer as JSON of another form.
  }
  throw INVALID
}

const INVALID = transient('BATON_CLASSIFIER_INVALID', 'the classifier answered what is no answer')
