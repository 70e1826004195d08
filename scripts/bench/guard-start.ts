/** Prints the milliseconds of the guard's first check in a process with everything else loaded. */
import { GuardRequest } from '@remit/contract'
import { inspectContent } from '@remit/core/guard'

const request = GuardRequest.parse({ content: 'When does the museum open?' })
const started = performance.now()
inspectContent(request)
console.log(performance.now() - started)
