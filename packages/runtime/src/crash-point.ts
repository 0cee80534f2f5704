// Named places where a test may kill the process; inert unless BATON_CRASH_AT names one.

const wanted = /^(?<name>[a-z_.]+)(?::(?<pass>\d+))?$/.exec(
  process.env['BATON_CRASH_AT'] ?? '',
)?.groups
let passesLeft = Number(wanted?.['pass'] ?? 1)

/** Kills this very process with SIGKILL on the n-th pass of `BATON_CRASH_AT=name:n`. */
export function crashPoint(name: string): void {
  if (wanted?.['name'] !== name) return
  passesLeft -= 1
  if (passesLeft === 0) process.kill(process.pid, 'SIGKILL')
}
