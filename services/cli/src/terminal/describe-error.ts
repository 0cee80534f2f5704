// An error as a person needs it: what is wrong, its code, how to mend it; and the exit code that goes with it.
import { machineTrouble } from '@baton/infra/machine-trouble'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'

/** What `--json` prints on stdout in place of data. */
interface Failure {
  readonly code: string
  readonly message: string
  /** The argument, or the JSON pointer into what was given; null where neither is at fault. */
  readonly place: string | null
  readonly fix: string | null
  readonly exitCode: ExitCode
}

export const failureLine = (failure: Failure): string => `${JSON.stringify({ error: failure })}\n`

interface Described {
  readonly text: string
  readonly failure: Failure
  readonly exitCode: ExitCode
}

const EXIT_OF_CODE: Readonly<Record<string, ExitCode>> = {
  BATON_USAGE: EXIT.usage,
  BATON_SETTINGS_INVALID: EXIT.usage,
  BATON_CURSOR_INVALID: EXIT.usage,
  BATON_PARAMETER_INVALID: EXIT.usage,
  BATON_FILE_NOT_FOUND: EXIT.notFound,
  BATON_CERTIFICATE_MISSING: EXIT.notFound,
  BATON_INSTANCE_MISSING: EXIT.notFound,
  BATON_INSTANCE_NOT_RUNNING: EXIT.notFound,
  BATON_TASK_NOT_FOUND: EXIT.notFound,
  BATON_TASK_UNKNOWN: EXIT.notFound,
  BATON_TENANT_UNKNOWN: EXIT.notFound,
  BATON_BACKUP_UNKNOWN: EXIT.notFound,
  BATON_BACKUP_DAMAGED: EXIT.verificationFailed,
  BATON_BACKUP_UNRECORDED: EXIT.incomplete,
  BATON_BACKUP_COLD_DIFFERS: EXIT.verificationFailed,
  BATON_BACKUP_SECRETS_BESIDE: EXIT.notAllowed,
  BATON_RESTORE_SERVERS: EXIT.usage,
  BATON_TASK_UNPROVEN: EXIT.incomplete,
  BATON_HANDOFF_UNKNOWN: EXIT.notFound,
  BATON_APPROVAL_UNKNOWN: EXIT.notFound,
  BATON_DEAD_LETTER_UNKNOWN: EXIT.notFound,
  BATON_ALERT_UNKNOWN: EXIT.notFound,
  BATON_SUBSCRIPTION_UNKNOWN: EXIT.notFound,
  BATON_EVENT_FORGOTTEN: EXIT.notFound,
  BATON_ESCALATION_UNKNOWN: EXIT.notFound,
  BATON_REDRIVE_UNKNOWN: EXIT.notFound,
  BATON_REVIEW_OWN_HANDOFF: EXIT.notAllowed,
  BATON_REVIEW_NOT_ALLOWED: EXIT.notAllowed,
  BATON_FILE_NOT_ALLOWED: EXIT.notAllowed,
  BATON_TOKEN_MISSING: EXIT.notAllowed,
  BATON_TOKEN_REFUSED: EXIT.notAllowed,
  BATON_API_KEY_MISSING: EXIT.notAllowed,
  BATON_API_KEY_INVALID: EXIT.notAllowed,
  BATON_API_KEY_EXPIRED: EXIT.notAllowed,
  BATON_API_KEY_REVOKED: EXIT.notAllowed,
  BATON_API_KEYS_INVALID: EXIT.usage,
  BATON_TOKEN_INVALID: EXIT.notAllowed,
  BATON_TOKEN_ISSUER_UNKNOWN: EXIT.notAllowed,
  BATON_TOKEN_EXPIRED: EXIT.notAllowed,
  BATON_TOKEN_EARLY: EXIT.notAllowed,
  BATON_TOKEN_AUDIENCE: EXIT.notAllowed,
  BATON_TOKEN_TENANT_UNKNOWN: EXIT.notAllowed,
  BATON_PERSON_NEEDED: EXIT.notAllowed,
  BATON_SECOND_FACTOR_NEEDED: EXIT.notAllowed,
  BATON_SCOPE_MISSING: EXIT.notAllowed,
  BATON_ERASURE_UNKNOWN: EXIT.notFound,
  BATON_ERASURE_OWN: EXIT.notAllowed,
  BATON_ERASURE_INCOMPLETE: EXIT.incomplete,
  BATON_VERIFY_SETTINGS_MISSING: EXIT.incomplete,
  BATON_OFFER_UNKNOWN: EXIT.notFound,
  BATON_OFFER_AMBIGUOUS: EXIT.usage,
  BATON_OFFER_INVALID: EXIT.usage,
  BATON_OFFER_NOT_ADDRESSED: EXIT.notAllowed,
  BATON_INTERRUPTED: EXIT.interrupted,
}

type CodedError = Error & {
  readonly code: string
  readonly fix?: string
  readonly pointer?: string
}

/** Pure packages have error classes of their own; what they share is the stable code. */
const isCoded = (error: unknown): error is CodedError =>
  error instanceof Error && String((error as { code?: unknown }).code).startsWith('BATON_')

/** Errors of Baton show code and fix, those of the machine their remedy; anything else is a bug and shows its stack. */
export function describeError(error: unknown): Described {
  const trouble = machineTrouble(error)
  if (!isCoded(error)) {
    if (trouble !== undefined) {
      const { code, message, fix } = trouble
      return {
        text: `baton: ${message} (${code})\n  ${fix}`,
        failure: { code, message, place: null, fix, exitCode: EXIT.failure },
        exitCode: EXIT.failure,
      }
    }
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return {
      text: `baton: ${text}\n  This is a bug in Baton; please report it.`,
      failure: {
        code: 'BATON_DEFECT',
        message: error instanceof Error ? error.message : text,
        place: null,
        fix: 'This is a bug in Baton; please report it.',
        exitCode: EXIT.failure,
      },
      exitCode: EXIT.failure,
    }
  }
  const fixes = [error.fix, trouble?.fix].filter((fix) => fix !== undefined)
  const fix = fixes.map((one) => `\n  ${one}`).join('')
  const { code, message } = error
  const exitCode = EXIT_OF_CODE[code] ?? EXIT.failure
  return {
    text: `baton: ${message} (${code})${causeOf(error)}${fix}`,
    failure: {
      code,
      message,
      place: error.pointer ?? null,
      fix: fixes.join('\n') || null,
      exitCode,
    },
    exitCode,
  }
}

function causeOf({ cause }: Error): string {
  if (!(cause instanceof Error) || cause.message === '') return ''
  return `\n  because: ${cause.message.split('\n', 1)[0] ?? ''}`
}
