/** What messages of the scheduler name as their source. */
export const SOURCE = '/services/scheduler';
