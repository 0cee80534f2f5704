// What OpenTelemetry's own variables say of the signals that Baton gives to the SDK itself.
export type Environment = Readonly<Record<string, string | undefined>>
export type Signal = 'TRACES' | 'METRICS' | 'LOGS'

/** Whether an exporter or an endpoint is named for it, and the SDK is not disabled. */
export function isExported(environment: Environment, signal: Signal): boolean {
  if (environment['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return false
  const exporter = `OTEL_${signal}_EXPORTER`
  if (environment[exporter] === 'none') return false
  const endpoints = ['OTEL_EXPORTER_OTLP_ENDPOINT', `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`]
  return [exporter, ...endpoints].some((name) => (environment[name] ?? '') !== '')
}

/** OTLP where none is named. */
export function exporterNames(environment: Environment, signal: Signal): readonly string[] {
  const named = environment[`OTEL_${signal}_EXPORTER`] || 'otlp'
  return named.split(',').map((name) => name.trim())
}

export const protocolOf = (environment: Environment, signal: Signal): string =>
  environment[`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`] ??
  environment['OTEL_EXPORTER_OTLP_PROTOCOL'] ??
  ''

/** A positive number, or `otherwise` where none is given: a bound must not vanish by a slip of the pen. */
export function numberOf(environment: Environment, name: string, otherwise: number): number {
  const given = Number(environment[name])
  return given > 0 && Number.isFinite(given) ? given : otherwise
}
