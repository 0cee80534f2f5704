// Why an agent rejected a request, as a code that may be recorded, and back in the peers' words. Its own words go nowhere.

/** The states of an agent by their published names. */
const AGENT_STATES: ReadonlySet<string> = new Set([
  'INITIALIZING',
  'RUNNABLE',
  'SCHEDULED',
  'RUNNING',
  'WAITING',
  'WAITING_RESOURCES',
  'SUSPENDED',
  'RESUMED',
  'COMPLETED',
  'FAILED_STATE',
  'SHUTTING_DOWN',
  'RECOVERING',
])

/** The published error codes that an agent may give with its rejection. */
const ERROR_CODES: Readonly<Record<number, string>> = {
  1: 'BUFFER_FULL',
  2: 'NO_ROUTE',
  3: 'ACK_TIMEOUT',
  4: 'AGENT_UNAVAILABLE',
  5: 'AGENT_SHUTDOWN',
  6: 'VALIDATION_ERROR',
  7: 'PERMISSION_DENIED',
  8: 'UNSUPPORTED_MESSAGE_TYPE',
  9: 'OVERSIZE_PAYLOAD',
  10: 'TOOL_TIMEOUT',
  11: 'PARTIAL_DELIVERY',
  12: 'FORCED_PREEMPTION',
  13: 'TTL_EXPIRED',
  99: 'INTERNAL_ERROR',
}

const MISSING = 'Missing capability: '
const BUSY = 'Agent busy: '

/** The code of a rejection: which required capability is missing, in which state the agent is, or its error code. */
export function rejectionCode(
  { reason, errorCode }: { readonly reason: string; readonly errorCode: number },
  capabilitiesRequired: readonly string[],
): string {
  if (reason.startsWith(MISSING)) {
    const index = capabilitiesRequired.indexOf(reason.slice(MISSING.length))
    if (index >= 0) return `MISSING_CAPABILITY_${index}`
  }
  const state = reason.startsWith(BUSY) ? reason.slice(BUSY.length) : ''
  if (AGENT_STATES.has(state)) return `AGENT_BUSY_${state}`
  return ERROR_CODES[errorCode] ?? 'AGENT_DECLINED'
}

/** What a code says, in the words that were rejected with. */
export function rejectionText(code: string, capabilitiesRequired: readonly string[]): string {
  const [, missing, busy] = /^(?:MISSING_CAPABILITY_(\d{1,5})|AGENT_BUSY_(\w+))$/.exec(code) ?? []
  if (missing !== undefined) return `${MISSING}${capabilitiesRequired[Number(missing)] ?? '?'}`
  if (busy !== undefined) return `${BUSY}${busy}`
  return code
}
