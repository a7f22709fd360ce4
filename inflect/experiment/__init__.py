"""From a composed config to finished runs: settings, store, pipeline, launcher, tracking, results."""
