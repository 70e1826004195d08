/** Prints the milliseconds that the guard's first check takes in a process that has everything else. */
import { GuardRequest } from '@remit/contract'
import { checkContent } from '@remit/core'

const request = GuardRequest.parse({ content: 'When does the museum open?' })
const started = performance.now()
checkContent(request)
console.log(performance.now() - started)
