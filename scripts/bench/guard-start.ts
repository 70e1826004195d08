/** Prints the milliseconds of the guard's first check in a process with everything else loaded. */
import { GuardRequest } from '@remit/contract'
import { checkContent } from '@remit/core'

const request = GuardRequest.parse({ content: 'When does the museum open?' })
const started = performance.now()
checkContent(request)
console.log(performance.now() - started)
