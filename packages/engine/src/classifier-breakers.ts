// Keeps calls away from a classifier that fails, and from others the harm that one tenant's questions do: a breaker for each tenant, of
// what its own questions make fail, and one for all, of what no question can cause. Each tenant has so many calls under way at once.
import { codeOf, createBreaker, createTurnstile, transient } from '@baton/runtime'

/** Tells from now on whether calls of this tenant, or of everybody, are kept away. */
export type PausedListener = (paused: boolean, tenant: string | undefined) => void

export interface ClassifierBreakers<Asked, Answer> {
  /** Rejects as the call does, with BATON_BREAKER_OPEN while it is kept away, and with BATON_TIMEOUT where its turn does not come in time. */
  fire(tenant: string, asked: Asked): Promise<Answer>
  onPaused(listener: PausedListener): void
  close(): void
}

interface BreakersOptions {
  /** For one call, the wait for its turn included. */
  readonly timeoutMs: number
  readonly resetMs: number
  readonly callsOfTenantMax: number
}

type Ask<Asked, Answer> = (asked: Asked, signal: AbortSignal) => Promise<Answer>

/** Tenants whose failures are remembered; beyond them, those of whoever has not asked for longest are forgotten. */
const TENANTS_MAX = 256
/** Calls that wait: more than a worker has handoffs under way. */
const WAITING_MAX = 65_536
/** The calls end by themselves before, so that it is they that name the cause. */
const BREAKER_MARGIN_MS = 500

export function createClassifierBreakers<Asked, Answer>(
  ask: Ask<Asked, Answer>,
  { timeoutMs, resetMs, callsOfTenantMax }: BreakersOptions,
): ClassifierBreakers<Asked, Answer> {
  const bounds = { timeoutMs: timeoutMs + BREAKER_MARGIN_MS, resetMs, capacity: WAITING_MAX }
  const listeners: PausedListener[] = []
  const tell: PausedListener = (paused, tenant) => {
    for (const listener of listeners) listener(paused, tenant)
  }
  const ofAll = createBreaker('the classifier', ask, { ...bounds, isFault: isUnreachable })
  ofAll.onChange((open) => tell(open, undefined))
  // Whoever asked last comes last.
  const ofTenants = new Map<string, ReturnType<typeof createOfTenant>>()

  function createOfTenant(tenant: string) {
    const enter = createTurnstile(callsOfTenantMax)
    const call = (asked: Asked): Promise<Answer> => {
      const signal = AbortSignal.timeout(timeoutMs)
      return enter(() => ofAll.fire(asked, signal), signal).catch((error: unknown) => {
        throw error === signal.reason ? TOO_LATE : error
      })
    }
    const breaker = createBreaker('the classifier', call, { ...bounds, isFault: isOfTenant })
    breaker.onChange((open) => tell(open, tenant))
    return breaker
  }

  function breakerOf(tenant: string) {
    const breaker = ofTenants.get(tenant) ?? createOfTenant(tenant)
    ofTenants.delete(tenant)
    ofTenants.set(tenant, breaker)
    const [longest] = ofTenants.size > TENANTS_MAX ? ofTenants : []
    if (longest !== undefined) forget(...longest)
    return breaker
  }

  function forget(tenant: string, breaker: ReturnType<typeof createOfTenant>): void {
    ofTenants.delete(tenant)
    if (breaker.open) tell(false, tenant)
    breaker.close()
  }

  return {
    fire: (tenant, asked) => breakerOf(tenant).fire(asked),
    onPaused: (listener) => void listeners.push(listener),
    close() {
      for (const breaker of [ofAll, ...ofTenants.values()]) breaker.close()
    },
  }
}

const TOO_LATE = transient('BATON_TIMEOUT', 'the classifier had no time for a question')

const UNREACHABLE: ReadonlySet<unknown> = new Set([
  'BATON_TLS_REFUSED',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])

/** No connection came about, so that no question can be the cause. */
function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return UNREACHABLE.has(codeOf(error)) || isUnreachable(error.cause)
}

/** What is everybody's says nothing against whoever asks; what is no answer came in time, and says nothing of the next question. */
const NO_FAULTS: ReadonlySet<string> = new Set(['BATON_BREAKER_OPEN', 'BATON_CLASSIFIER_INVALID'])

const isOfTenant = (error: unknown): boolean =>
  !isUnreachable(error) && !NO_FAULTS.has(codeOf(error))
